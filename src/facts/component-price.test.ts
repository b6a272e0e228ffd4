import { expect, test } from 'vitest';
import { ACCELERATORS } from './accelerators.ts';
import { COMPONENT_PRICES } from './component-price.ts';

test('each price is decimal text above 0, of an accelerator of the table, and dated', () => {
  const ids = new Set(ACCELERATORS.map(({ id }) => id));
  const wrong = COMPONENT_PRICES.filter(({ model, asOf, source, ...prices }) => {
    const texts = [prices.usdPerGpuHour, prices.usdPerVcpuHour, prices.usdPerMemoryGibHour];
    return (
      !ids.has(model) ||
      source === '' ||
      !/^\d{4}-\d{2}-\d{2}$/.test(asOf) ||
      texts.some((text) => !/^\d+\.\d+$/.test(text) || Number(text) <= 0)
    );
  });
  expect(wrong).toEqual([]);
  expect(new Set(COMPONENT_PRICES.map(({ model }) => model)).size).toBe(COMPONENT_PRICES.length);
  expect(COMPONENT_PRICES.length).toBeGreaterThan(20);
});
