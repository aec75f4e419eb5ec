import { ownClient } from './from-address.ts'
import type { AttackedGateway } from './gateway.ts'
import type { Attack, Target } from './target.ts'

/** What became of an attack. */
export interface Attacked {
  /** How often each answer came. */
  readonly answers: ReadonlyMap<string, number>
  /** Everything that should not be: an answer of its own fault, or none of the expected ones. */
  readonly faults: readonly string[]
}

/** How long an attack goes on. */
export interface AttackOptions {
  readonly scale: number
  readonly milliseconds: number
}

/** Each attack comes from a new client, whose share of cost is full. */
let attackers = 0

/** Makes rounds of an attack, at least one, closes what it opened, and judges the answers. */
export async function runAttack(
  gateway: AttackedGateway,
  attack: Attack,
  { scale, milliseconds }: AttackOptions,
): Promise<Attacked> {
  const answers = new Map<string, number>()
  const client = ownClient(`127.0.2.${++attackers}`)
  const closing: (() => void)[] = [client.close]
  const onEnd = (close: () => void) => void closing.push(close)
  const target: Target = { ...gateway.target, scale, client, onEnd }
  const begun = performance.now()
  do {
    for (const answer of await attack.round(target)) {
      answers.set(answer, (answers.get(answer) ?? 0) + 1)
    }
  } while (performance.now() - begun < milliseconds && gateway.isAlive())
  for (const close of closing) close()
  const faults = [...answers.keys()].filter((answer) => /^(500|INTERNAL)$/.test(answer))
  const isExpected = attack.expected.some((one) => answers.has(one))
  if (!isExpected) faults.push(`none of ${attack.expected.join(', ')}`)
  if (!gateway.isAlive()) faults.push('the process is gone')
  return { answers, faults }
}
