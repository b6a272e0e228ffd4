/** What a device did in a silence longer than this nobody knows: what is idle after it has been idle since its end. */
export const LONG_SILENCE_S = 3600;
