import { z } from 'zod';

/** The forms of `rules`, `aliases` and `shared` in bursar.yaml. */
const TEXT_CHARACTERS_MAX = 1000;
const text = (sentence: string) => z.string().min(1).max(TEXT_CHARACTERS_MAX).describe(sentence);
const pattern = z.string().max(TEXT_CHARACTERS_MAX);

const day = (sentence: string) =>
  z
    .string()
    .regex(/^\d{4}-\d{2}-\d{2}$/, 'a day: 2026-11-01')
    .describe(sentence);

const when = z
  .record(z.string().min(1), z.union([pattern, z.array(pattern).min(1)]))
  .describe('What to look at and what it must be: nlp, nlp-*, /^svc-(.+)$/, !x, or a list of them. All must match.');

const value = (sentence: string) =>
  z
    .union([text(sentence), z.null()])
    .describe(sentence)
    .optional();

const rule = z.strictObject({
  name: text('What reports call the rule.').optional(),
  when,
  from: day('First day it holds on; always where not said.').optional(),
  until: day('First day after it.').optional(),
  set: z
    .strictObject({
      team: value('The team; {namespace} puts in what is there, none says nobody.'),
      project: value('The project.'),
      user: value('The person.'),
      environment: value('The environment: prod, dev.'),
      class: value('training, batch, inference or experimentation.'),
    })
    .describe('What it says, where no rule before it has.'),
});

const renamed = z
  .record(
    z.string().min(1),
    z.union([
      text('The name that counts.'),
      z.strictObject({ to: text('The name that counts.'), from: day('First day it counts on.').optional() }),
    ]),
  )
  .describe('Old names and the name that counts: {nlp-old: nlp}.')
  .optional();

const aliases = z.strictObject({
  team: renamed,
  project: renamed,
  user: renamed,
  environment: renamed,
  class: renamed,
});

const shared = z.strictObject({
  name: text('What reports call it: control plane.'),
  when,
  from: day('First day it is shared on; always where not said.').optional(),
  until: day('First day after it.').optional(),
  split: z
    .union([
      z.enum(['gpu-hours', 'cost', 'even']),
      z.record(z.string().min(1), z.number().int().min(0).max(1_000_000)).describe('Whole parts of each team.'),
    ])
    .describe('By what each day is split over teams: gpu-hours, cost, even, or stated parts {nlp: 40, vision: 60}.'),
});

export const rulesForms = {
  rules: z.array(rule).max(5000).describe('Whose money is whose, first match wins; see docs/RULES.md.').optional(),
  aliases: aliases.describe('Other names of the same team, project, user, environment or class.').optional(),
  shared: z.array(shared).max(100).describe('Money that serves several teams, and how it is split.').optional(),
};

const rulesSchema = z.strictObject(rulesForms);
export type RulesText = z.infer<typeof rulesSchema>;
export type RuleText = z.infer<typeof rule>;
export type SharedText = z.infer<typeof shared>;
export type WhenText = z.infer<typeof when>;
