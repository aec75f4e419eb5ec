import { torture } from './torture.ts'

/** `npm run torture [-- --minutes N] [--seed N]`: the feed under torture. The last line is the verdict. */

const words = process.argv.slice(2)
const number = (flag: string, otherwise: number) => {
  const at = words.indexOf(flag)
  return at === -1 ? otherwise : Number(words[at + 1])
}
const minutes = number('--minutes', 3.5)
const seed = number('--seed', Date.now() % 1_000_000)
console.log(`${minutes} minutes, seed ${seed}`)
const report = await torture({
  seconds: minutes * 60,
  kills: Math.max(50, Math.round(minutes * 14)),
  listeners: 300,
  paymentsPerSecond: 40,
  seed,
  onProgress: (text) => console.log(text),
})
const { faults, sessions, ...counts } = report
console.log({ ...counts, sessions })
for (const fault of faults.slice(0, 20)) console.log(fault)
const isEnough = report.deliveries >= 100_000
if (!isEnough) console.log('fewer than 100,000 deliveries: too little to say anything')
const isWell = faults.length === 0 && isEnough
console.log(isWell ? 'PASSED: every history equals the log' : `FAILED: ${faults.length} faults`)
process.exitCode = isWell ? 0 : 1
