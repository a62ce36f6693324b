import { AppError, isErrorCode } from '@rowcall/errors';
import type { Receipt } from '@rowcall/protocol';

/** The refusal that a runner wrote into a receipt, as it would have been thrown here. */
export function toStoredRefusal(receipt: Receipt): AppError {
  const [code = '', ...rest] = (receipt.error ?? '').split(':');
  const param = rest.join(':');
  return new AppError(isErrorCode(code) ? code : 'internal', receipt.error_message ?? '', {
    details: { receipt: receipt.id, trace: receipt.trace },
    ...(param === '' ? {} : { param }),
  });
}
