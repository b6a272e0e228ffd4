import { expect, test } from 'vitest';
import { ACCELERATOR_NAMES, ACCELERATORS } from './accelerators.ts';
import { wordsOf } from './accelerators/accelerator.ts';
import { COMPONENT_PRICES, FITTED_COMPONENTS } from './component-price.ts';

test('each price is decimal text above 0, of an accelerator of the table, and dated', () => {
  const ids = new Set(ACCELERATORS.map(({ id }) => id));
  const wrong = FITTED_COMPONENTS.filter(({ model, asOf, source, ...prices }) => {
    const texts = [prices.usdPerGpuHour, prices.usdPerVcpuHour, prices.usdPerMemoryGibHour];
    return (
      !ids.has(model) ||
      source === '' ||
      !/^\d{4}-\d{2}-\d{2}$/.test(asOf) ||
      texts.some((text) => !/^\d+\.\d+$/.test(text) || Number(text) <= 0)
    );
  });
  expect(wrong).toEqual([]);
  expect(new Set(FITTED_COMPONENTS.map(({ model }) => model)).size).toBe(FITTED_COMPONENTS.length);
  expect(FITTED_COMPONENTS.length).toBeGreaterThan(20);
});

test('whatever an accelerator is called, it is priced as itself, or where it has no row as its sister in another form', () => {
  const longest = COMPONENT_PRICES.toSorted((a, b) => b.model.length - a.model.length || (a.model < b.model ? -1 : 1));
  const wrong = ACCELERATOR_NAMES.flatMap(({ name, id }) => {
    const got = longest.find(({ model }) => wordsOf(`NVIDIA ${name}`).includes(wordsOf(model)));
    const want = FITTED_COMPONENTS.find(({ model }) => model === id);
    const isSister = want === undefined && got !== undefined && id.startsWith(got.model);
    return isSister || got?.usdPerGpuHour === want?.usdPerGpuHour ? [] : [`${name}: ${got?.model} for ${want?.model}`];
  });
  expect(wrong).toEqual([]);
});
