// A starter bot that makes arbitrary legal choices in every game. Replace choose.    go run bot.go [PORT]
// Port: argument, $PORT or 9000 (0: a free one). Host: $HOST or 127.0.0.1. Secret: $REFEREE_BOT_SECRET or secret.txt
package main // formatted by hand to fit on one page
import ("crypto/hmac"; "crypto/sha256"; "encoding/base64"; "encoding/json"; "fmt"; "io"; "log"; "net")
import ("net/http"; "os"; "runtime/debug"; "strconv"; "strings"; "time")
type reply = map[string]any
type message struct { // a question or a notice
	Type, Nonce string; Step int; Group struct{ ID string; Nonces []string } // of notices
	Decision struct{ ID string }; Observation map[string]any // of questions, as is the next line
	Legal []json.RawMessage `json:"legal_actions"`; Default json.RawMessage `json:"default_action"`
}
var manifest = reply{"protocol": "2", "name": "starter", "version": "1", "max_concurrent_requests": 8,
	"games": []string{"pool-nap", "prince-albert", "prisoners", "rummy-royal", "saint-poker"}}

// choose returns one of asked.Legal, the same if asked again. asked.Observation is all you may see.
func choose(asked message) json.RawMessage {
	hash := sha256.Sum256([]byte(asked.Decision.ID))
	return asked.Legal[(int(hash[0])<<8|int(hash[1]))%len(asked.Legal)]
}
func answerQuestion(asked message) (answer reply) {
	answer = reply{"decision": asked.Decision.ID, "action": asked.Default}
	defer func() { if err := recover(); err != nil { // play the default action; `error` is shown only to you
		log.Printf("%v\n%s", err, debug.Stack()); answer["error"] = fmt.Sprintf("%.1000s", fmt.Sprint(err)) } }()
	answer["action"] = choose(asked); return
}
func answerNotice(told message) reply {
	nonce := fmt.Sprintf("%x", mac("nonce " + told.Group.ID))[:32] // our contribution to the shuffle
	switch fmt.Sprint(told.Type, told.Step) {
	case "challenge0": return reply{"proof": fmt.Sprintf("%x", mac(told.Nonce))} // proves that this address is yours
	case "group_start1": return reply{"nonce_hash": fmt.Sprintf("%x", sha256.Sum256([]byte(nonce)))} // step 1
	case "group_start2": return reply{"nonce": nonce} // step 2
	case "group_start3": return reply{"accepted": strings.Contains(fmt.Sprint(told.Group.Nonces), nonce)} // step 3: used
	default: return reply{} } } // match_end, group_end
func key() (key []byte) { // read at each call: the secret may be written while the bot runs
	beside, _ := os.ReadFile("secret.txt")
	secret := strings.TrimSpace(first(os.Getenv("REFEREE_BOT_SECRET"), string(beside)))
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil { log.Panic(err) }; return key } // a malformed secret: refuse every call
func mac(text string) []byte { hash := hmac.New(sha256.New, key()); hash.Write([]byte(text)); return hash.Sum(nil) }
func isSigned(head http.Header, body []byte) (fits bool) {
	sent, _ := strconv.ParseInt(head.Get("webhook-timestamp"), 10, 64)
	own := "v1," + base64.StdEncoding.EncodeToString(mac(fmt.Sprintf("%s.%d.%s", head.Get("webhook-id"), sent, body)))
	for _, v1 := range strings.Fields(head.Get("webhook-signature")) { fits = fits || hmac.Equal([]byte(v1), []byte(own)) }
	return fits && time.Since(time.Unix(sent, 0)).Abs() < 5*time.Minute }
func serve(out http.ResponseWriter, request *http.Request) {
	body, _ := io.ReadAll(request.Body); status, answer, told := 200, manifest, message{}
	if request.Method == "GET" { // the manifest
	} else if len(key()) > 0 && !isSigned(request.Header, body) { status, answer = 401, reply{"error": "bad signature"}
	} else if json.Unmarshal(body, &told) != nil { status, answer = 400, reply{"error": "bad JSON"}
	} else if strings.HasSuffix(request.URL.Path, "/notify") { answer = answerNotice(told)
	} else { answer = answerQuestion(told) }
	out.Header().Set("Content-Type", "application/json"); out.WriteHeader(status); json.NewEncoder(out).Encode(answer)
}
func first(texts ...string) string { for _, text := range texts { if text != "" { return text } }; return "" }
func main() {
	host, port := first(os.Getenv("HOST"), "127.0.0.1"), first(append(os.Args[1:], os.Getenv("PORT"), "9000")...)
	listener, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil { log.Fatalf("cannot listen on %s: %v; try another port: go run bot.go 9001", host, err) }
	fmt.Printf("%s plays at http://%s\n", manifest["name"], listener.Addr())
	log.Fatal(http.Serve(listener, http.HandlerFunc(serve))) }
