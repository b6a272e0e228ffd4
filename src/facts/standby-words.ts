/** Words by which people say that something waits for its turn: in names, and in keys and values of labels. For SQL and for JavaScript, of lower case. */
export const STANDBY_WORDS =
  '(^|[^a-z])(stand-?by|fail-?over|fallback|backup|warm|passive|secondary|reserve|(hot-?)?spare|disaster(-recovery)?|dr)([^a-z]|$)';
