/**
 * Two holders of one GPU that overlap for at most this long follow each other: the later one has the overlap. A day's holdings
 * are kept one second more than this past its end, to know which of the two it is.
 */
export const OVERLAP_SECONDS_MAX = 120;
