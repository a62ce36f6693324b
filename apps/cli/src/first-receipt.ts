/** What the four steps gave. */
export interface FirstReceipt {
  readonly key: string;
  readonly result: unknown;
  readonly publicReceipt: string;
  readonly status: string;
}

/** What is asked, and the row that is to answer: a function without effects, which every new server has. */
export const FIRST_QUESTION = 'what time is it';
const FIRST_KEY = 'NOW';
const STEP_MS_MAX = 10_000;

interface Asked {
  readonly best: { readonly key: string } | null;
}
interface Answered {
  readonly result: unknown;
  readonly proof: { readonly invocation_id: string; readonly public_receipt: string };
}

/**
 * Does what an agent does: asks, reads, invokes and confirms, over HTTP.
 * @throws Error when a step does not hold. Rows that people wrote in the place of NOW are not run: they may have effects.
 */
export async function makeFirstReceipt(url: string, ownerKey: string): Promise<FirstReceipt> {
  const door = `${url}/api/dispatch`;
  const headers = { authorization: `Bearer ${ownerKey}`, 'content-type': 'application/json' };
  const { best } = await getJson<Asked>(`${door}?ask=${encodeURIComponent(FIRST_QUESTION)}`, { headers });
  if (best?.key !== FIRST_KEY) {
    throw new Error(`"${FIRST_QUESTION}" is answered by ${best?.key ?? 'no row'}, not by ${FIRST_KEY}`);
  }
  const contract = await getJson<{ fingerprint: string }>(`${door}?key=${FIRST_KEY}`, { headers });
  const body = JSON.stringify({ key: FIRST_KEY, body: '', expect_contract: contract.fingerprint });
  const { result, proof } = await getJson<Answered>(door, { method: 'POST', headers, body });
  const id = proof.invocation_id;
  const confirmed = await getJson<{ confirmed: boolean; status: string }>(`${door}?confirm=${id}`, { headers });
  if (!confirmed.confirmed) throw new Error(`receipt ${id} is not confirmed`);
  return { key: FIRST_KEY, result, publicReceipt: proof.public_receipt, status: confirmed.status };
}

async function getJson<T>(url: string, init: RequestInit): Promise<T> {
  const response = await fetch(url, { ...init, signal: AbortSignal.timeout(STEP_MS_MAX) });
  if (response.ok) return (await response.json()) as T;
  throw new Error(`${init.method ?? 'GET'} ${url} answered ${response.status}: ${await response.text()}`);
}
