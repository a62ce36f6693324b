import { toTextTerms } from './normalise.js';

/** Words that stand for one another where software is described and asked for, a group a line. */
const GROUPS = `
get fetch retrieve obtain read lookup load pull
find search query locate discover seek
list enumerate browse
create add make new insert build generate
produce compose write draft
delete remove erase drop destroy clear purge
update edit modify change alter adjust revise
send deliver dispatch transmit forward
post publish submit share
show display view see
compute calculate evaluate determine
convert transform translate conversion
check verify validate confirm test
analyze analyse assess examine inspect
compare contrast diff
recommend suggest propose advise
schedule plan book reserve arrange
buy purchase order
cancel abort revoke terminate end stop
start begin launch initiate run execute
combine merge join unite
split separate divide
save store keep archive
upload import
download export
monitor track watch follow
count number total amount quantity
message sms text chat
email mail inbox
call dial phone telephone ring
picture image photo photograph screenshot
movie film cinema
song music track tune
video clip footage
job career vacancy employment
company business firm corporation enterprise organisation organization
user member person people
account profile membership subscription
customer client buyer shopper
cost price fee charge rate
money currency cash
refund reimburse chargeback
stock share equity
weather forecast temperature climate rain hot cold
pollution smog
location place address position coordinate
near nearby close around
map route direction navigation
city town
country nation
trip travel journey vacation holiday tour
hotel accommodation lodging
flight plane airline
car vehicle automobile
home house property
restaurant dining eatery cafe
recipe dish meal food cooking
doctor physician
disease illness condition
drug medicine medication pharmacy
article news story headline
book novel
document doc file
repository repo
branch trunk
database db
website site webpage page url link
scrape crawl fetch
code program script
bug issue ticket defect
error failure exception crash outage incident
task todo reminder
meeting appointment event calendar
date day time
today now current present
latest recent newest current
information info detail
summary summarize summarise overview abstract
encyclopedia wikipedia
definition meaning define dictionary
quote saying
joke humor
game gaming
team club
match fixture
score result
student pupil
teacher instructor tutor
class course lesson
colour color
random arbitrary
popular trending top
similar related
free gratis
invoice bill receipt
payment pay transaction
product item goods
parcel package shipment shipping delivery
review rating feedback
uuid guid
hash digest checksum
uppercase capital upper
lowercase lower
beautify format pretty
password credential secret
login signin authenticate authentication
permission access grant
block ban deny
colleague team coworker
`;

const others = new Map<string, Set<string>>();

for (const line of GROUPS.trim().split('\n')) {
  const terms = [...new Set(toTextTerms(line))];
  for (const term of terms) {
    const known = others.get(term) ?? new Set<string>();
    for (const other of terms) if (other !== term) known.add(other);
    others.set(term, known);
  }
}

const NONE: ReadonlySet<string> = new Set();

/** Terms that may stand where a question says another. */
export const findSynonyms = (term: string): ReadonlySet<string> => others.get(term) ?? NONE;
