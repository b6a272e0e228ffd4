import { z } from 'zod';

/** What has to be equal: of the reply, and of what the command prints with --json. */
export interface SameFigures {
  readonly reply: unknown;
  readonly said: unknown;
}

type Compare = (reply: unknown, said: unknown, asked: Readonly<Record<string, string>>) => SameFigures;

const Money = z.string().nullable();
const SpendSaid = z.object({
  rows: z.array(z.looseObject({ costUsdMicros: Money, heldSeconds: z.number(), unpricedSeconds: z.number() })),
  totalUsdMicros: Money,
});

const sum = (amounts: readonly (string | null)[]): string =>
  String(amounts.reduce((total, amount) => total + BigInt(amount ?? '0'), 0n));

/** The reply has all that the command prints, and perhaps more. */
const wordForWord: Compare = (reply, said) => {
  const whole = z.record(z.string(), z.unknown()).parse(said);
  const told = z.record(z.string(), z.unknown()).parse(reply);
  return { reply: Object.fromEntries(Object.keys(whole).map((name) => [name, told[name]])), said: whole };
};

/** Replies in the shape of a page: which of their figures are which of the command's. */
const OF_PAGES: Readonly<Record<string, Compare>> = {
  getFirstFindings(reply, said) {
    const page = z.looseObject({ first: z.array(z.unknown()), window: z.unknown() }).parse(reply);
    const command = z.looseObject({ findings: z.array(z.unknown()), window: z.object({}).loose() }).parse(said);
    return {
      reply: { first: page.first, window: page.window },
      said: { first: command.findings.slice(0, page.first.length), window: expectMore(command.window, page.window) },
    };
  },
  getOverview(reply, said) {
    const Sums = { gpuSeconds: z.number(), unpricedSeconds: z.number(), basisUsdMicros: z.unknown() };
    const page = z.object({ ...Sums, paidUsdMicros: Money, computedPermille: z.number().nullable() }).parse(reply);
    const { usdMicros, computeShare, ...sums } = z
      .object({ ...Sums, usdMicros: Money, computeShare: z.object({ permille: z.number().nullable() }) })
      .parse(said);
    return { reply: page, said: { ...sums, paidUsdMicros: usdMicros, computedPermille: computeShare.permille } };
  },
  getSpendBreakdown(reply, said) {
    const page = z
      .object({
        rows: z.array(
          z.object({
            values: z.record(z.string(), z.unknown()),
            usdMicros: Money,
            gpuSeconds: z.number(),
            unpricedSeconds: z.number(),
          }),
        ),
        total: z.object({ usdMicros: Money }),
      })
      .parse(reply);
    const { rows, totalUsdMicros } = SpendSaid.parse(said);
    return {
      reply: page,
      said: {
        rows: rows.map(({ costUsdMicros, heldSeconds, unpricedSeconds, ...values }) => ({
          values,
          usdMicros: costUsdMicros,
          gpuSeconds: heldSeconds,
          unpricedSeconds,
        })),
        total: { usdMicros: totalUsdMicros },
      },
    };
  },
  getWhy(reply, said) {
    const Figure = z.object({
      figure: z.object({ usdMicros: Money, gpuSeconds: z.number(), unpricedSeconds: z.number() }),
    });
    return { reply: Figure.parse(reply), said: Figure.parse(said) };
  },
  getRuleSuggestions(reply, said) {
    // The page has the YAML of each beside it.
    const Rules = z.object({
      totalUsdMicros: Money,
      unownedUsdMicros: Money,
      leftUsdMicros: Money,
      rules: z.array(z.object({ value: z.string(), attribute: z.string(), usdMicros: Money })),
      shared: z.array(z.object({ name: z.string(), usdMicros: Money })),
    });
    return { reply: Rules.parse(reply), said: Rules.parse(said) };
  },
  getGpu(reply, said) {
    const Category = z.object({ category: z.string(), reason: z.string().nullable(), costUsdMicros: Money });
    const inOrder = (rows: readonly z.infer<typeof Category>[]): unknown =>
      rows.map(({ category, reason, costUsdMicros }) => `${category} ${reason} ${costUsdMicros}`).toSorted();
    const page = z.object({ categories: z.array(Category), costUsdMicros: Money }).parse(reply);
    const { rows, totalUsdMicros } = SpendSaid.parse(said);
    return {
      reply: { categories: inOrder(page.categories), costUsdMicros: page.costUsdMicros },
      said: { categories: inOrder(rows.map((row) => Category.parse(row))), costUsdMicros: totalUsdMicros },
    };
  },
  getFleet(reply, said) {
    const Sums = z.object({ costUsdMicros: Money, idleUsdMicros: Money, unallocatedUsdMicros: Money });
    const page = z
      .object({
        total: Sums,
        groups: z.array(
          z.object({ nodes: z.array(z.object({ devices: z.array(Sums.extend({ deviceId: z.string() })) })) }),
        ),
      })
      .parse(reply);
    const Row = z.object({ device: z.string().nullable(), category: z.string(), costUsdMicros: Money });
    const rows = SpendSaid.parse(said)
      .rows.map((row) => Row.parse(row))
      .filter(({ device }) => device !== null);
    const of = (keeps: (row: z.infer<typeof Row>) => boolean): string =>
      sum(rows.filter(keeps).map(({ costUsdMicros }) => costUsdMicros));
    const devices = [...new Set(rows.map(({ device }) => device))];
    const found = page.groups.flatMap(({ nodes }) => nodes.flatMap((node) => node.devices));
    return {
      reply: {
        total: page.total,
        devices: found.map(({ deviceId, costUsdMicros }) => `${deviceId} ${costUsdMicros}`).toSorted(),
      },
      said: {
        total: {
          costUsdMicros: of(() => true),
          idleUsdMicros: of(({ category }) => category === 'idle'),
          unallocatedUsdMicros: of(({ category }) => category === 'unallocated'),
        },
        devices: devices.map((each) => `${each} ${of(({ device }) => device === each)}`).toSorted(),
      },
    };
  },
  listTeams(reply, said, { team }) {
    const Row = z.looseObject({ team: z.string().nullable() });
    const { otherRows: _, months: __, ...page } = z.looseObject({ rows: z.array(Row) }).parse(reply);
    if (team === undefined) return { reply: page, said };
    // Of one team the command prints its statement: the page's row of it.
    const One = z.object({ team: z.string().nullable(), amountCents: z.string() });
    return { reply: One.parse(page.rows[0]), said: One.parse(said) };
  },
  askDoctor(reply, said) {
    // Each looks at the machine by itself, and the command for sources nobody has named yet; the folder is the same.
    const Places = z.object({ places: z.array(z.object({ what: z.string(), state: z.string(), says: z.string() })) });
    const folder = (told: unknown): unknown => Places.parse(told).places.filter(({ what }) => what === 'data folder');
    return { reply: folder(reply), said: folder(said) };
  },
  getTeamOutcomes(reply, said) {
    const Named = z.array(z.looseObject({ name: z.string().nullable() }));
    const page = z.object({ rows: Named, runs: Named, window: z.unknown() }).parse(reply);
    const command = z.object({ rows: Named, runs: Named, window: z.unknown() }).parse(said);
    const [{ name } = { name: null }] = [...page.rows, ...page.runs];
    const own = (rows: z.infer<typeof Named>): unknown => rows.filter((row) => row.name === name);
    return { reply: page, said: { rows: own(command.rows), runs: own(command.runs), window: command.window } };
  },
};

/** A page may say more of a thing than the command; what both say is compared. */
function expectMore(said: Readonly<Record<string, unknown>>, page: unknown): unknown {
  return { ...z.record(z.string(), z.unknown()).parse(page), ...said };
}

/** Which figures of a route's reply are those of its command. */
export function sameFigures(
  name: string,
  reply: unknown,
  said: unknown,
  asked: Readonly<Record<string, string>>,
): SameFigures {
  return (OF_PAGES[name] ?? wordForWord)(reply, said, asked);
}
