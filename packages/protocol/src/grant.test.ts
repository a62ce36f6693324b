import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  attenuateBodySchema,
  GRANT_FINGERPRINT_PATTERN,
  grantExplanationSchema,
  grantItemSchema,
  grantMintedSchema,
  grantTermsSchema,
  mintBodySchema,
} from './grant.js';

const REQUIRED = { scope: 'act', ttl_seconds: 60, max_uses: 0, purpose: 'a test' } as const;
const TERMS = {
  scope: { keys: ['NOW'] },
  effects: ['read'],
  max_uses: 0,
  audience: null,
  risk_ceiling: 'low',
  owner_gate: false,
  fixed_body: null,
  max_body_bytes: null,
  rate_per_minute: null,
  budget_usd: null,
  pins: { NOW: '0'.repeat(64) },
} as const;

describe('a request for a grant', () => {
  it('names scope, time, uses and purpose', () => {
    expect(mintBodySchema.parse(REQUIRED)).toEqual(REQUIRED);
    for (const name of Object.keys(REQUIRED)) {
      expect(mintBodySchema.safeParse({ ...REQUIRED, [name]: undefined }).success).toBe(false);
    }
  });

  it.each([
    { ttl_seconds: 7_776_000 },
    { max_uses: 1_000_000_000 },
    { scope: 'read' },
    { scope: { keys: ['NOW'], prefixes: [], categories: [] } },
    { scope: { prefixes: ['GET_'] } },
    { scope: { categories: ['books'] } },
    { fixed_body: '' },
    { max_body_bytes: 0 },
    { rate_per_minute: 1 },
    { budget_usd: 0.001 },
    { audience: 'https://agents.example/a' },
    { effects: ['read', 'write', 'destructive'], risk_ceiling: 'high', owner_gate: true, pin: false, actor: 'a job' },
  ])('may ask for %j', (members) => {
    expect(mintBodySchema.safeParse({ ...REQUIRED, ...members }).success).toBe(true);
  });

  it.each([
    { ttl_seconds: 59 },
    { ttl_seconds: 7_776_001 },
    { ttl_seconds: 60.5 },
    { ttl_seconds: '60' },
    { max_uses: -1 },
    { max_uses: 1_000_000_001 },
    { purpose: '' },
    { purpose: '\0' },
    { purpose: '\ud800' },
    { actor: '' },
    { scope: 'write' },
    { scope: {} },
    { scope: { keys: [], prefixes: [], categories: [] } },
    { scope: { keys: ['now'] } },
    { scope: { prefixes: [''] } },
    { scope: { categories: [''] } },
    { scope: { keys: ['NOW'], key: 'NOW' } },
    { effects: [] },
    { effects: ['delete'] },
    { audience: 'two words' },
    { audience: 'a\nb' },
    { risk_ceiling: 'none' },
    { owner_gate: 1 },
    { fixed_body: '\0' },
    { max_body_bytes: -1 },
    { rate_per_minute: 0 },
    { budget_usd: 0 },
    { budget_usd: Number.POSITIVE_INFINITY },
    { fixed_body: null },
    { uses: 1 },
  ])('may not ask for %j', (members) => {
    expect(mintBodySchema.safeParse({ ...REQUIRED, ...members }).success).toBe(false);
  });

  it('has bounds on what it holds', () => {
    const sized = (length: number) => 'x'.repeat(length);
    const listed = (length: number) => Array.from({ length }, () => 'NOW');
    const isTaken = (members: object) => mintBodySchema.safeParse({ ...REQUIRED, ...members }).success;
    expect([500, 501].map((length) => isTaken({ purpose: sized(length) }))).toEqual([true, false]);
    expect([256, 257].map((length) => isTaken({ actor: sized(length) }))).toEqual([true, false]);
    expect([256, 257].map((length) => isTaken({ audience: sized(length) }))).toEqual([true, false]);
    expect([65_536, 65_537].map((length) => isTaken({ fixed_body: sized(length) }))).toEqual([true, false]);
    expect([1_000, 1_001].map((length) => isTaken({ scope: { keys: listed(length) } }))).toEqual([true, false]);
    expect([100, 101].map((length) => isTaken({ scope: { prefixes: listed(length) } }))).toEqual([true, false]);
    expect([100, 101].map((length) => isTaken({ scope: { categories: listed(length) } }))).toEqual([true, false]);
  });
});

describe('a request for a child', () => {
  it('may leave everything out, and has the same bounds', () => {
    expect(attenuateBodySchema.parse({})).toEqual({});
    expect(attenuateBodySchema.parse({ max_uses: 1 })).toEqual({ max_uses: 1 });
    for (const wrong of [{ ttl_seconds: 59 }, { scope: {} }, { fixed_body: null }, { parent: 'cap_' }]) {
      expect(attenuateBodySchema.safeParse(wrong).success).toBe(false);
    }
  });
});

describe('stored terms', () => {
  it('have every member: one that lacks is an error and not a limit that is not there', () => {
    expect(grantTermsSchema.parse(TERMS)).toEqual(TERMS);
    for (const name of Object.keys(TERMS)) {
      expect(grantTermsSchema.safeParse({ ...TERMS, [name]: undefined }).success).toBe(false);
    }
    expect(grantTermsSchema.safeParse({ ...TERMS, more: 1 }).success).toBe(false);
  });
});

describe('answers', () => {
  it('show the token at the mint and never again', () => {
    expect(Object.keys(grantMintedSchema.shape)).toContain('token');
    for (const schema of [grantItemSchema, grantExplanationSchema]) expect(schema.shape).not.toHaveProperty('token');
  });

  it('name a grant by 128 bits', () => {
    expect(GRANT_FINGERPRINT_PATTERN.test(`cap_${'0f'.repeat(16)}`)).toBe(true);
    for (const wrong of [`cap_${'0F'.repeat(16)}`, `cap:${'0f'.repeat(16)}`, `cap_${'0f'.repeat(16)}0`]) {
      expect(GRANT_FINGERPRINT_PATTERN.test(wrong)).toBe(false);
    }
  });
});

it('every schema can be written as JSON Schema, for OpenAPI', () => {
  const schemas = [mintBodySchema, attenuateBodySchema, grantMintedSchema, grantItemSchema, grantExplanationSchema];
  const required = schemas.map((schema) => {
    const id = schema.meta()?.id ?? '';
    const document = z.toJSONSchema(schema, { io: 'input' });
    expect(document.$ref).toBe(`#/$defs/${id}`);
    return [id, document.$defs?.[id]?.required?.length];
  });
  expect(Object.fromEntries(required)).toEqual({
    GrantRequest: 4,
    GrantAttenuation: undefined,
    GrantMinted: 20,
    Grant: 22,
    GrantExplanation: 22,
  });
});
