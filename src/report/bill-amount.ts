import { divideRounded } from '../money/usd.ts';

/** Amounts of a bill are whole numbers of 10⁻¹⁸ of its currency. */
const BILL_DIGITS = 18;

/** Every digit of an amount, without the zeros nobody wrote: `20.52022672899`. */
export function exactText(amount: bigint): string {
  const unsigned = String(amount < 0n ? -amount : amount).padStart(BILL_DIGITS + 1, '0');
  const whole = unsigned.slice(0, -BILL_DIGITS);
  const fraction = unsigned.slice(-BILL_DIGITS).replace(/0+$/, '');
  return `${amount < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}

/** `1,234.56 CAD`: an amount for people, in cents; what is there but below half a cent is `<0.01`. */
export function billAmount(amount: bigint, currency: string): string {
  const cents = divideRounded(amount, 10n ** BigInt(BILL_DIGITS - 2));
  if (cents === 0n && amount !== 0n) return `${amount < 0n ? '−' : ''}<0.01 ${currency}`;
  const unsigned = cents < 0n ? -cents : cents;
  const whole = String(unsigned / 100n).replace(/\B(?=(\d{3})+$)/g, ',');
  return `${cents < 0n ? '−' : ''}${whole}.${String(unsigned % 100n).padStart(2, '0')} ${currency}`;
}
