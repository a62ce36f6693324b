/** Gives the address of another database of the same server. */
export function toDatabaseUrl(url: string, database: string): string {
  const address = new URL(url);
  address.pathname = `/${database}`;
  return address.href;
}
