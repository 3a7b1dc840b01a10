// All tables there are, for a page that cannot fetch any.

import { poolNap } from "./tables/pool_nap.js";
import { princeAlbert } from "./tables/prince_albert.js";
import { prisoners } from "./tables/prisoners.js";
import { rummyRoyal } from "./tables/rummy_royal.js";
import { saintPoker } from "./tables/saint_poker.js";

export const ALL_TABLES = [poolNap, princeAlbert, prisoners, rummyRoyal, saintPoker];
