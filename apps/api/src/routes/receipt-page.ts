import { createHash } from 'node:crypto';
import { type Confirmation, problemSchema } from '@rowcall/protocol';
import { z } from 'zod';
import type { App } from '../app.js';
import type { Context } from '../context.js';
import { confirm } from '../door/confirm.js';
import { requireOwner } from '../plugins/owner.js';

const STYLE = `
:root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}
body{max-width:44rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.3rem}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.3rem 1.2rem}
dt{opacity:.7}
dd{margin:0;overflow-wrap:anywhere;font-family:ui-monospace,monospace;font-size:.9rem}
`;
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');
const CSP = `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);

function toLines(confirmation: Confirmation): [string, unknown][] {
  const { fingerprints, lineage } = confirmation;
  return [
    ['receipt', confirmation.invocation_id],
    ['state', confirmation.state],
    ['key', confirmation.key],
    ['type', confirmation.type],
    ['row version', confirmation.row_version],
    ['lane', confirmation.lane],
    ['actor', confirmation.actor],
    ['outcome', confirmation.outcome],
    ['status', confirmation.status],
    ['error', confirmation.error],
    ['started', confirmation.started_at],
    ['finished', confirmation.finished_at],
    ['input SHA-256', fingerprints?.input],
    ['output SHA-256', fingerprints?.output],
    ['contract SHA-256', fingerprints?.contract],
    ['trace', lineage?.trace],
    ['parent', lineage?.parent],
    ['replay of', lineage?.replay_of],
    ['repairs', lineage?.repairs],
  ];
}

function toHtml(confirmation: Confirmation): string {
  const lines = toLines(confirmation)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([name, value]) => `<dt>${name}</dt><dd>${escapeHtml(String(value))}</dd>`)
    .join('\n');
  const verdict = confirmation.confirmed
    ? 'Confirmed: this call was made and recorded.'
    : `Not finished: ${confirmation.state}.`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex"><title>Receipt ${confirmation.invocation_id}</title><style>${STYLE}</style></head>
<body><h1>${escapeHtml(verdict)}</h1><dl>
${lines}
</dl></body></html>
`;
}

/** GET /receipt/{id}: the public proof as a page for people; never a payload. */
export function addReceiptPage(app: App, context: Context): void {
  app.route({
    method: 'GET',
    url: '/receipt/:id',
    schema: {
      operationId: 'receiptPage',
      summary: 'Public proof of a receipt, as a page',
      tags: ['receipts'],
      security: [{}],
      params: z.strictObject({ id: z.string().max(64) }),
      response: { 200: z.string().meta({ description: 'HTML.' }), 404: problemSchema },
    },
    async handler(request, reply) {
      if (!context.config.publicConfirm) await requireOwner(context, request);
      const confirmation = await confirm(context, request.params.id);
      reply.headers({
        'content-security-policy': CSP,
        'cache-control': 'no-cache',
        'referrer-policy': 'no-referrer',
      });
      return reply.type('text/html; charset=utf-8').send(toHtml(confirmation));
    },
  });
}
