// On every page: moments in the reader's own time zone.
import { localMoments } from "./moments.js";

localMoments(document);
