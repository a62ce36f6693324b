/** Ends a `switch` over a union: a kind that is not handled fails the build, and at run time throws. */
export function unreachable(value: never): never {
  throw new Error(`unreachable: ${JSON.stringify(value)}`);
}
