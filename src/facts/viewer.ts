/** What a token lets its bearer do: see, decide about findings, hand out tokens. Each may do what those before it may. */
export const ROLES = ['viewer', 'operator', 'admin'] as const;
export type Role = (typeof ROLES)[number];

/** Who asks. Without a token on loopback: an admin of the whole fleet. */
export interface Viewer {
  readonly name: string;
  readonly role: Role;
  /** Set: this team's money and the fleet's totals, nothing else. */
  readonly team: string | undefined;
}
