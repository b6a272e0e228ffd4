import { OperationError } from '../../facts/operation-error.ts';
import type { RateConfig } from '../config/source-config.ts';

/** `H100=1.95` of `--rate`, for all time. */
export function parseRate(text: string): RateConfig {
  const at = text.lastIndexOf('=');
  const model = text.slice(0, Math.max(at, 0)).trim();
  const amount = text.slice(at + 1).trim();
  const isUsd = /^\$?\d{1,6}(\.\d{1,9})?$/.test(amount);
  if (at < 1 || model === '' || !isUsd) {
    throw new OperationError('bad-rate', `--rate ${text} is not MODEL=USD`, {
      hint: 'For example --rate H100=1.95, dollars for one GPU and one hour; * is any model.',
    });
  }
  return { model, usdPerGpuHour: amount.replace('$', '') };
}
