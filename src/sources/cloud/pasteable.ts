/** A name inside a command people are told to type: quoted where a shell would read it as something else. */
export function pasteable(text: string): string {
  return /^[\w./@:+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
