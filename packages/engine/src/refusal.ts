import { AppError, isErrorCode } from '@rowcall/errors';
import type { Receipt } from '@rowcall/protocol';

/** No receipt of that id, or none that the caller may know of. */
export const unknownReceipt = (id: string): AppError =>
  new AppError('unknown_receipt', `no receipt has the id ${JSON.stringify(id.slice(0, 64))}`);

/** The refusal that a runner wrote into a receipt, as it would have been thrown here. */
export function toStoredRefusal(receipt: Receipt): AppError {
  const [code = '', ...rest] = (receipt.error ?? '').split(':');
  const param = rest.join(':');
  return new AppError(isErrorCode(code) ? code : 'internal', receipt.error_message ?? '', {
    details: { receipt: receipt.id, trace: receipt.trace },
    ...(param === '' ? {} : { param }),
  });
}
