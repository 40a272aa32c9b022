// What all pages run. Each module finds what it adds to by a data- attribute, and a page without it works as well.
import { showCopyButtons } from "./copy.js";
import { showHere } from "./here.js";
import { startKeys } from "./keys.js";
import { startLive } from "./live.js";
import { startPalette } from "./palette.js";
import { showTimes } from "./times.js";

showTimes(document);
showHere();
showCopyButtons(document);
startKeys();
startPalette();
startLive();
