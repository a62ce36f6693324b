/** What rows do, the most usual first. */
export const VERBS = (
  'get list create update delete search send find add remove check export import cancel read start stop share ' +
  'schedule approve assign archive upload download publish compare count convert validate translate merge copy move ' +
  'restore pause resume subscribe invite verify book refund track summarise print sign lock'
).split(' ');

/** What they do it to. */
export const OBJECTS = (
  'user order invoice customer message file ticket product payment event contact report task project issue account ' +
  'document email subscription page record comment shipment meeting team booking image review price channel ticket-type ' +
  'employee contract folder video campaign deal lead notification address station flight hotel route forecast alert ' +
  'sensor reading device playlist song movie recipe ingredient article author patient appointment prescription claim ' +
  'policy vehicle driver trip warehouse pallet supplier quote discount voucher refund salary timesheet shift holiday ' +
  'course lesson exam grade student classroom match player league score ballot survey answer badge domain certificate ' +
  'server container cluster deployment build branch commit release secret webhook dashboard metric trace incident ' +
  'currency loan mortgage share fund dividend tax receipt donation species garden soil harvest tractor crop'
)
  .split(' ')
  .map((object) => object.replace('-', ' '));

/** Where it is. */
export const SYSTEMS = (
  'github slack stripe jira calendar mailbox drive shop crm warehouse payroll billing weather maps music cinema travel ' +
  'clinic school bank insurance fleet factory farm museum library airport harbour railway hotel restaurant gym ' +
  'newsroom studio laboratory observatory parliament court police fire energy water telecom parking housing charity ' +
  'auction sports betting dating genealogy chess translation photography printing logistics recycling forestry fishery'
).split(' ');

/** How, or for whom. */
export const QUALIFIERS = (
  'by id|for a customer|between two dates|with attachments|of the current month|in bulk|as PDF|by status|near a place|' +
  'of a team|with comments|sorted by price|in another currency|for tomorrow|without approval|of the last week|by tag|' +
  'for review|with its history|in a region|by owner|for a given language|from a template|with low stock|that are overdue'
).split('|');

/** What people write around what they want. */
export const OPENINGS = (
  'please|hello, could you|I need to|we would like to|can you help me to|my boss asked me to|is there a way to|' +
  'before the meeting on Friday I have to|quickly|for the quarterly review we must|somebody should'
).split('|');

const SYLLABLES = 'ba co di fe gu ha jo ka li mo nu pa qui ra so tu ve wi xo ze'.split(' ');

/** A name that somebody gave to a product, other ones for each of 8,000 numbers. */
export function toName(number: number): string {
  const at = (place: number) => SYLLABLES[Math.floor(number / place) % SYLLABLES.length] ?? '';
  return `${at(1)}${at(20)}${at(400)}`;
}

/** One of the items, the first far more often than the last: the nth with a weight of 1/n, as words of a language are. */
export function pickByRank<T>(items: readonly T[], chance: number): T {
  // The harmonic sum to n is about ln n: its inverse makes an even chance one of ranks.
  const rank = Math.floor((items.length + 1) ** chance) - 1;
  return items[Math.min(rank, items.length - 1)] as T;
}
