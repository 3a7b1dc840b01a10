// On every page: moments in the reader's own time zone.
import { localMoments } from "./local_time.js";

localMoments(document);
