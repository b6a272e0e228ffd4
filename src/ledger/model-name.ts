/** Whether a listed model has these words in it: `H100` is in `NVIDIA H100 80GB HBM3`, `L4` is not in `NVIDIA L40`. */
export const namesModel = (listed: string, wanted: string): string => {
  const words = (text: string): string => `' ' || translate(lower(${text}), '-_/().,', '       ') || ' '`;
  return `strpos(${words(listed)}, ${words(wanted)}) > 0`;
};
