import { parseArgs } from 'node:util'
import { torture } from './torture.ts'

/** `npm run torture`: the feed under torture. The last line is the verdict. */

const help = `usage: npm run torture -- [options]

Starts a gateway and 300 clients at all doors, kills it again and again, breaks lines, stalls readers, loses wake-ups and
moves the clock; in the end every client's history must equal the log, which is read from the database.

  --minutes N   how long (3.5); there are 14 kills a minute, and at least 50
  --seed N      what happens when (a random one, which is told)
  --help        this text`

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '3.5' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    help: { type: 'boolean', default: false },
  },
})
const minutes = Number(values.minutes)
const seed = Number(values.seed)
if (values.help) console.log(help)
else if (!(minutes > 0 && Number.isSafeInteger(seed))) refuse()
else await run()

function refuse(): void {
  console.error('--minutes is a number above 0, --seed a whole number; --help tells more')
  process.exitCode = 2
}

async function run(): Promise<void> {
  console.log(`${minutes} minutes, seed ${seed}`)
  const began = performance.now()
  const { faults, ...report } = await torture({
    seconds: minutes * 60,
    kills: Math.max(50, Math.round(minutes * 14)),
    listeners: 300,
    paymentsPerSecond: 40,
    seed,
    onProgress: (text) => console.log(text),
  })
  console.log({ ...report, seconds: Math.round((performance.now() - began) / 1_000) })
  for (const fault of faults.slice(0, 20)) console.log(fault)
  const isEnough = report.deliveries >= 100_000
  if (!isEnough) console.log('fewer than 100,000 deliveries: too little to say anything')
  const isWell = faults.length === 0 && isEnough
  console.log(isWell ? 'PASSED: every history equals the log' : `FAILED: ${faults.length} faults`)
  process.exitCode = isWell ? 0 : 1
}
