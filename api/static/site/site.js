// Show times in the reader's time zone, on every page.
import { localMoments } from "./local_time.js";

localMoments(document);
