/** Days after which what nobody uses counts as forgotten. A week has every weekday in it: weekly jobs would have come. */
export const FORGOTTEN_DAYS = 7;
