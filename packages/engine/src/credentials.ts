/** Names that hold Rowcall's own secrets: no row can name them. */
const OWN_SECRETS = /^(DATABASE_URL|ROWCALL_.*)$/;

/** Issued values that are remembered of one owner: those before them have long been of no use. */
const ISSUED_MAX = 8;

/** Hands credentials to calls by name, and remembers the values that it handed out so that they can be cut from what is kept. */
export class Credentials {
  readonly #read: (name: string) => string | undefined;
  readonly #values = new Set<string>();
  readonly #issued = new Map<string, readonly string[]>();
  #revision = 0;

  /** @param read gives the value of an environment variable, or of the file that `<NAME>_FILE` names. */
  constructor(read: (name: string) => string | undefined) {
    this.#read = read;
  }

  /** @returns the value, or undefined when the variable is not set. */
  find(name: string): string | undefined {
    const value = this.findSetting(name);
    if (value !== undefined && !this.#values.has(value)) {
      this.#values.add(value);
      this.#revision += 1;
    }
    return value;
  }

  /** Like {@link Credentials.find}, for a variable beside a credential that holds no secret, such as an address. */
  findSetting(name: string): string | undefined {
    if (OWN_SECRETS.test(name)) return undefined;
    return this.#read(name) || undefined;
  }

  /** Remembers a value that was issued to `owner`, such as an access token. The last eight of each owner are kept. */
  remember(owner: string, value: string): void {
    const issued = this.#issued.get(owner) ?? [];
    if (issued.at(-1) === value) return;
    this.#issued.set(owner, [...issued.filter((other) => other !== value), value].slice(-ISSUED_MAX));
    this.#revision += 1;
  }

  /** Every value handed out so far, and the latest that were issued. */
  get values(): readonly string[] {
    return [...new Set([...this.#values, ...[...this.#issued.values()].flat()])];
  }

  /** Goes up when a value is added: tells when a redactor is out of date. */
  get revision(): number {
    return this.#revision;
  }
}
