import type { Ask, OpenFile } from '../files/read-file.ts';
import { awsCurView, isAwsCur } from './aws-cur.ts';
import { azureCostView, isAzureCost } from './azure-cost.ts';
import type { BillView } from './bill-view.ts';
import { billColumns } from './bill-view.ts';
import { focusView, isFocus } from './focus.ts';
import { gcpBillingView, isGcpBilling } from './gcp-billing.ts';

/**
 * Question: whose bill is this, by the names of its columns?
 *
 * File names are not asked: people rename them. Undefined where the columns are of no provider's export; then they may still
 * be those of the charge table itself.
 */
export async function recogniseBill(
  file: OpenFile,
  label: string,
  ask: Ask,
  options: { readonly statedDates: boolean },
): Promise<BillView | undefined> {
  const columns = billColumns(file.columns);
  if (isFocus(columns)) return focusView(file, label, ask, options.statedDates);
  if (isAwsCur(columns)) return awsCurView(file);
  if (isAzureCost(columns)) return azureCostView(file, ask);
  if (isGcpBilling(columns)) return gcpBillingView(file);
  return undefined;
}
