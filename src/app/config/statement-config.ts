import { z } from 'zod';

const code = (sentence: string) =>
  z.string('must be text: put it in quotes, so that no zero of it is lost').min(1).max(60).describe(sentence);

const team = z.strictObject({
  cost_centre: code('The cost centre its money is charged to, in quotes: "4711".').optional(),
  account_code: code('The account it is booked on, in quotes: "6200-100".').optional(),
  lead: z.string().min(1).describe('Who answers for it; stands on its statement.').optional(),
});

/** Of each team, by its name in the ledger. */
export const teamsForm = z
  .record(z.string().min(1), team)
  .describe('Cost centre, account code and lead of each team, by the name it has in `bursar spend`.');

export const statementsForm = z
  .strictObject({
    mode: z
      .enum(['showback', 'chargeback'])
      .describe('showback tells a team what it cost, chargeback charges it; showback where not said.')
      .optional(),
    issuer: z.string().min(1).describe('Who issues statements: a department, a company.').optional(),
  })
  .describe('How statements are made out.');

type TeamsText = z.infer<typeof teamsForm>;
type StatementsText = z.infer<typeof statementsForm>;

/** What a statement says of a team beside its money. */
export interface TeamConfig {
  readonly costCentre: string | null;
  readonly accountCode: string | null;
  readonly lead: string | null;
}

export interface StatementConfig {
  readonly kind: 'showback' | 'chargeback';
  readonly issuer: string | null;
  readonly teams: ReadonlyMap<string, TeamConfig>;
}

/** Undefined where bursar.yaml says nothing of statements. */
export function statementConfig(
  teams: TeamsText | undefined,
  statements: StatementsText | undefined,
): StatementConfig | undefined {
  if (teams === undefined && statements === undefined) return undefined;
  return {
    kind: statements?.mode ?? 'showback',
    issuer: statements?.issuer ?? null,
    teams: new Map(
      Object.entries(teams ?? {}).map(([name, { cost_centre: costCentre, account_code: accountCode, lead }]) => [
        name,
        { costCentre: costCentre ?? null, accountCode: accountCode ?? null, lead: lead ?? null },
      ]),
    ),
  };
}
