// For every page: show times in the reader's time zone.
import { localMoments } from "./local_time.js";

localMoments(document);
