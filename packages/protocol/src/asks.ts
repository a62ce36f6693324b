import { z } from 'zod';

const share = z.number().min(0).max(1).nullable();

/** An ask as it is listed. */
export const askSchema = z
  .object({
    ask_id: z.string(),
    at: z.string(),
    actor: z.string().meta({ description: 'Who asked; `anyone` for who presented no credential.' }),
    question: z.string().meta({ description: 'Redacted; its first 500 characters.' }),
    times: z.int().meta({ description: 'How often the same caller asked the same within a minute.' }),
    best: z.string().nullable().meta({ description: 'Key of the row that fitted; null where none did.' }),
    confidence: z.number(),
    category: z.string().nullable(),
    keys: z.array(z.string()).meta({ description: 'What was answered, the best first.' }),
    read_keys: z.array(z.string()).meta({ description: 'Those whose contracts were read in the name of the ask.' }),
    invoked: z
      .object({
        invocation_id: z.string(),
        key: z.string(),
        rank: z.int().nullable().meta({ description: 'Place of the row in the answer; null where it had none.' }),
        by: z.enum(['named', 'matched']).meta({ description: 'named: by ask_id; matched: by caller and time.' }),
      })
      .nullable()
      .meta({ description: 'The first call that followed.' }),
  })
  .meta({ id: 'Ask' });

/** Answer of GET /api/asks. */
export const asksAnswerSchema = z
  .object({ asks: z.array(askSchema), next_cursor: z.string().nullable() })
  .meta({ id: 'Asks' });

const sums = {
  asks: z.int(),
  answered: z.int().meta({ description: 'Asks for which a row fitted.' }),
  answered_share: share,
  invoked: z.int().meta({ description: 'Asks that a call followed: named and matched.' }),
  named: z.int().meta({ description: 'By calls that named the ask.' }),
  matched: z.int().meta({
    description:
      'By the first call of the same caller, within ten minutes, that named none and whose row was answered.',
  }),
  without_invoke: z.int(),
  mrr: share.meta({
    description: 'Mean of 1 / place of the row that was invoked, over the invoked; 0 for a row that was not answered.',
  }),
  hit_at_1: share.meta({ description: 'Share of the invoked whose row stood first.' }),
  hit_at_5: share,
};

/** Answer of GET /api/asks/quality. */
export const askQualitySchema = z
  .object({
    period: z.object({ from: z.string(), to: z.string() }),
    complete: z.boolean().meta({ description: 'False: the period has more asks; these are the newest 50,000.' }),
    ...sums,
    ranks: z
      .record(z.string(), z.int())
      .meta({ description: 'Invoked asks by the place of the row; `none` for a row that was not answered.' }),
    by_day: z.array(z.object({ day: z.string(), ...sums })).meta({ description: 'Days of UTC that have asks.' }),
    by_category: z
      .array(z.object({ category: z.string().nullable(), ...sums }))
      .meta({ description: 'By category of the best row; null where none fitted. The 100 with the most asks.' }),
    dropped: z.int().meta({
      description:
        'Asks that the process which answers did not keep since its start: beyond its limits, or without a database.',
    }),
  })
  .meta({ id: 'AskQuality' });
