/** What the four steps gave. */
export interface FirstReceipt {
  readonly result: unknown;
  readonly invocationId: string;
  readonly publicReceipt: string;
  readonly status: string;
}

async function getJson<T>(url: string, init?: RequestInit): Promise<T> {
  const response = await fetch(url, init);
  if (!response.ok)
    throw new Error(`${init?.method ?? 'GET'} ${url} answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as T;
}

/** Does what an agent does: asks, reads, invokes and confirms, over HTTP. @throws Error when a step does not hold. */
export async function makeFirstReceipt(url: string, ownerKey: string): Promise<FirstReceipt> {
  const door = `${url}/api/dispatch`;
  const asked = await getJson<{ best: { key: string } | null }>(`${door}?ask=${encodeURIComponent('what time is it')}`);
  if (asked.best === null) throw new Error('no row answers "what time is it"');
  const contract = await getJson<{ key: string; fingerprint: string }>(`${door}?key=${asked.best.key}`);
  const answer = await getJson<{ result: unknown; proof: { invocation_id: string; public_receipt: string } }>(door, {
    method: 'POST',
    headers: { authorization: `Bearer ${ownerKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ key: contract.key, body: '', expect_contract: contract.fingerprint }),
  });
  const id = answer.proof.invocation_id;
  const confirmed = await getJson<{ confirmed: boolean; status: string }>(`${door}?confirm=${id}`);
  if (!confirmed.confirmed) throw new Error(`receipt ${id} is not confirmed`);
  return {
    result: answer.result,
    invocationId: id,
    publicReceipt: answer.proof.public_receipt,
    status: confirmed.status,
  };
}
