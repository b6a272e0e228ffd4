import { z } from 'zod';
import { suggestRules } from '../../../app/ownership/suggest-rules.ts';
import { moneyWindow } from '../../../app/window.ts';
import { oneRuleYaml, suggestionJson } from '../../../report/rules-suggestion.ts';
import { shellWord } from '../../../report/shell-word.ts';
import { plainJson } from '../../plain-json.ts';
import { route } from '../../route.ts';
import { AsOf, Micros, NoParams, Span, Window } from '../question.ts';

const Yaml = z.string().meta({ description: 'To paste into bursar.yaml' });
const Suggestions = z.object({
  window: Span,
  totalUsdMicros: Micros,
  unownedUsdMicros: Micros,
  leftUsdMicros: Micros.meta({ description: 'What would still be nobody’s' }),
  rules: z.array(
    z.object({
      dimension: z.enum(['team', 'class']),
      value: z.string(),
      attribute: z.string(),
      patterns: z.array(z.string()),
      guards: z.boolean(),
      usdMicros: Micros,
      evidence: z.string(),
      example: z.string(),
      yaml: Yaml,
    }),
  ),
  shared: z.array(
    z.object({
      name: z.string(),
      when: z.record(z.string(), z.string()),
      usdMicros: Micros,
      example: z.string(),
      yaml: Yaml,
    }),
  ),
});
export type SuggestionsReply = z.infer<typeof Suggestions>;

export const ruleSuggestionsRoute = route({
  path: '/api/v1/rules/suggestions',
  name: 'getRuleSuggestions',
  summary: 'Which few rules would give most of the unattributed money its team?',
  page: 'spend',
  access: { role: 'viewer', sees: 'fleet' },
  query: z.object({
    window: Window,
    asOf: AsOf,
    top: z.coerce.number().int().min(1).max(9999).default(10).meta({ description: 'At most so many rules of a kind' }),
  }),
  params: NoParams,
  reply: Suggestions,
  command: ({ window, top, asOf }) =>
    `bursar rules suggest --top ${top} --window ${shellWord(window)}` +
    (asOf === undefined ? '' : ` --as-of ${shellWord(asOf)}`),
  answer: async ({ space, now, clock, query: { window, top } }) => {
    const answer = await suggestRules(space, moneyWindow(window, now, clock, space.scope), { top });
    return plainJson<SuggestionsReply>({
      ...(suggestionJson(answer) as object),
      rules: answer.rules.map((rule) => ({ ...rule, yaml: oneRuleYaml(rule) })),
      shared: answer.shared.map((each) => ({ ...each, yaml: oneRuleYaml(each) })),
    });
  },
});
