import { attackerAddress, ownClient } from './from-address.ts'
import type { AttackedGateway } from './gateway.ts'
import type { Attack, Target } from './target.ts'

/** The result of an attack. */
export interface AttackResult {
  /** The number of responses by code. */
  readonly answers: ReadonlyMap<string, number>
  /** Internal errors, the lack of an expected response, and the end of the process. */
  readonly faults: readonly string[]
}

/** The size and the minimum duration of an attack. */
export interface AttackOptions {
  readonly scale: number
  readonly milliseconds: number
}

/**
 * The number of connections that an attacker keeps open: four times as many as the gateway has descriptors. A connection that is not read
 * does not notice that the gateway has closed it, so that the attacker would run out of descriptors.
 */
const maxOpened = 4_096

/** The number of attacks so far. Each one comes from a new address, whose share of cost is full. */
let attackCount = 0

/** Makes at least one round of an attack, closes what it opened, and checks the responses. */
export async function runAttack(
  gateway: AttackedGateway,
  attack: Attack,
  { scale, milliseconds }: AttackOptions,
): Promise<AttackResult> {
  const answers = new Map<string, number>()
  const client = ownClient(attackerAddress(++attackCount))
  const closing: (() => void)[] = []
  const onEnd = (close: () => void) => {
    closing.push(close)
    if (closing.length > maxOpened) closing.shift()?.()
  }
  const target: Target = { ...gateway.target, scale, client, onEnd }
  const start = performance.now()
  do {
    for (const answer of await attack.round(target)) {
      answers.set(answer, (answers.get(answer) ?? 0) + 1)
    }
  } while (performance.now() - start < milliseconds && gateway.isAlive())
  for (const close of [client.close, ...closing]) close()
  const faults = [...answers.keys()].filter((answer) => /^(500|INTERNAL)$/.test(answer))
  const isExpected = attack.expected.some((one) => answers.has(one))
  if (!isExpected) faults.push(`no response is one of ${attack.expected.join(', ')}`)
  if (!gateway.isAlive()) faults.push('the process has exited')
  return { answers, faults }
}
