/** Names that hold Rowcall's own secrets: no row can name them. */
const OWN_SECRETS = /^(DATABASE_URL|ROWCALL_.*)$/;

/** Hands credentials to calls by name, and remembers the values that it handed out so that they can be cut from what is kept. */
export class Credentials {
  readonly #read: (name: string) => string | undefined;
  readonly #values = new Set<string>();

  /** @param read gives the value of an environment variable, or of the file that `<NAME>_FILE` names. */
  constructor(read: (name: string) => string | undefined) {
    this.#read = read;
  }

  /** @returns the value, or undefined when the variable is not set. */
  find(name: string): string | undefined {
    if (OWN_SECRETS.test(name)) return undefined;
    const value = this.#read(name);
    if (value === undefined || value === '') return undefined;
    this.#values.add(value);
    return value;
  }

  /** Every value handed out so far. */
  get values(): readonly string[] {
    return [...this.#values];
  }

  /** How many values were handed out so far: tells when a redactor is out of date. */
  get count(): number {
    return this.#values.size;
  }
}
