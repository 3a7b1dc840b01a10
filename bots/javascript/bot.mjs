// A starter bot that makes arbitrary legal choices in every game. Replace `choose`.    node bot.mjs [PORT]
// Port: argument, $PORT or 9000 (0: a free one). Host: $HOST or 127.0.0.1. Secret: $REFEREE_BOT_SECRET or secret.txt
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";

const [beside, host] = [new URL("secret.txt", import.meta.url), process.env.HOST || "127.0.0.1"];
const secret = () => process.env.REFEREE_BOT_SECRET || (existsSync(beside) ? readFileSync(beside, "utf8") : "");
const key = () => Buffer.from(secret().trim().replace(/^whsec_/, ""), "base64"); // read at each call: it may change
const manifest = { protocol: "2", name: "starter", version: "1", max_concurrent_requests: 8,
  games: ["pool-nap", "prince-albert", "prisoners", "rummy-royal", "saint-poker"] };
const sha256 = (text) => createHash("sha256").update(text).digest();
const hmac = (...parts) => parts.reduce((digest, part) => digest.update(part), createHmac("sha256", key())).digest();

/** Return one of question.legal_actions, the same if asked again. question.observation is all you may see. */
function choose(question) {
  return question.legal_actions[sha256(question.decision.id).readUInt32BE() % question.legal_actions.length];
}

function answerQuestion(question) {
  const answer = { decision: question.decision.id, action: question.default_action };
  try { answer.action = choose(question); } catch (error) {
    console.error(error); answer.error = String(error).slice(0, 1000); // shown only to you
  }
  return answer;
}
function answerNotice(notice) {
  if (notice.type === "challenge") return { proof: hmac(notice.nonce).toString("hex") }; // this address is yours
  if (notice.type !== "group_start") return {}; // match_end, group_end
  const nonce = hmac("nonce ", notice.group.id).toString("hex").slice(0, 32); // our contribution to the shuffle
  return [{ nonce_hash: sha256(nonce).toString("hex") }, { nonce }, // step 1, step 2
    { accepted: (notice.group.nonces ?? []).includes(nonce) }][notice.step - 1]; // step 3: our nonce is used
}

function isSigned(headers, body) {
  if (secret().trim() === "") return true; // without a secret, accept unsigned calls
  const [id, sent, given] = ["id", "timestamp", "signature"].map((part) => headers[`webhook-${part}`] ?? "");
  const wanted = Buffer.from("v1," + hmac(`${id}.${sent}.`, body).toString("base64"));
  const signatures = given.split(" ").map((signature) => Buffer.from(signature));
  const fits = signatures.some((own) => own.length === wanted.length && timingSafeEqual(own, wanted));
  return fits && key().length > 0 && Math.abs(Date.now() / 1000 - Number(sent)) < 300;
}

async function answer(request) {
  if (request.method === "GET") return [200, manifest];
  const body = Buffer.concat(await request.toArray());
  if (!isSigned(request.headers, body)) return [401, { error: "bad signature" }];
  return [200, (request.url.endsWith("/notify") ? answerNotice : answerQuestion)(JSON.parse(body))];
}

const server = createServer({ keepAliveTimeout: 0 }, async (request, response) => { // one connection for a whole match
  const [status, reply] = await answer(request).catch((error) => [400, { error: String(error) }]);
  const content = Buffer.from(JSON.stringify(reply));
  response.writeHead(status, { "Content-Type": "application/json", "Content-Length": content.length }).end(content);
});
server.once("error", (error) => {
  console.error(`cannot listen on ${host}: ${error.message}; try another port: node bot.mjs 9001`); process.exit(1);
});
server.listen(Number(process.argv[2] ?? process.env.PORT ?? 9000), host, () =>
  console.log(`${manifest.name} plays at http://${host}:${server.address().port}`));
