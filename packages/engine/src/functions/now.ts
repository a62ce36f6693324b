import { AppError } from '@rowcall/errors';
import { z } from 'zod';
import { defineFunction } from './registry.js';

const formatters = new Map<string, Intl.DateTimeFormat>();

/** Formatters are dear to make and few: one per zone that was asked for, at most as many as there are zones. */
function formatterOf(timeZone: string): Intl.DateTimeFormat {
  const known = formatters.get(timeZone);
  if (known !== undefined) return known;
  const formatter = newFormatter(timeZone);
  formatters.set(timeZone, formatter);
  return formatter;
}

function newFormatter(timeZone: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-CA', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      weekday: 'long',
      timeZoneName: 'longOffset',
    });
  } catch (error) {
    throw new AppError('invalid_args', `${JSON.stringify(timeZone)} is not an IANA time zone, such as Europe/Oslo`, {
      cause: error,
    });
  }
}

/** Date and time in a zone. `iso` is RFC 3339. */
export function toLocalTime(epochMs: number, timeZone: string) {
  const parts = Object.fromEntries(
    formatterOf(timeZone)
      .formatToParts(epochMs)
      .map(({ type, value }) => [type, value]),
  );
  const today = `${parts.year}-${parts.month}-${parts.day}`;
  const time = `${parts.hour}:${parts.minute}:${parts.second}`;
  const offset = (parts.timeZoneName ?? '').replace('GMT', '') || '+00:00';
  return { now: `${parts.weekday} ${today} ${time}`, today, time, zone: timeZone, iso: `${today}T${time}${offset}` };
}

export const now = defineFunction({
  name: 'NOW',
  what: 'Current date and time in the zone of the owner, or in a given IANA zone.',
  effect: 'read',
  input: z.tuple([z.string().trim().max(64).optional()]).rest(z.never()),
  run: ([zone], context) => toLocalTime(context.now(), zone ? zone : context.timeZone),
});
