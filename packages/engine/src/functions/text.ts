import { z } from 'zod';
import { defineFunction } from './registry.js';

const oneText = z.tuple([z.string()]);

export const echo = defineFunction({
  name: 'ECHO',
  what: 'Gives back what it is given.',
  effect: 'read',
  input: z.tuple([z.unknown()]),
  run: ([value]) => value,
});

export const upper = defineFunction({
  name: 'UPPER',
  what: 'Text in upper case.',
  effect: 'read',
  input: oneText,
  run: ([text]) => text.toUpperCase(),
});
