/** What is said last, by the order of `by`, in SQL; that nobody is named then is said too, and max_by passes over what is not there. */
export const lastSaid = (column: string, by: string): string => `NULLIF(max_by(COALESCE(${column}, ''), ${by}), '')`;
