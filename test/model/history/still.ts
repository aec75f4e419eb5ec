import { accountIdOfKey, developmentKeys } from '../../../src/node/embedded/development.ts'
import type { ProtocolParameters } from '../../../src/protocol/parameters.ts'
import { slotOfTime } from '../../../src/protocol/slots.ts'
import { graphql } from '../../support/client.ts'
import { until } from '../../support/until.ts'

/** Waits for a gateway whose clock stands. */

/** Waits until every slot that is due at a time in nanoseconds is committed. */
export async function untilCommitted(
  url: string,
  parameters: ProtocolParameters,
  nowNs: bigint,
): Promise<void> {
  const due = slotOfTime(parameters, nowNs) - parameters.minCommittableAge
  const what = `slot ${due} is committed`
  await until(async () => (await newestOf(url)) >= due, { what, deadlineMs: 60_000 })
}

/** Waits until nothing more happens: all slots are committed, the gateway has issued its own block, and no block is pending. */
export async function untilStill(
  url: string,
  parameters: ProtocolParameters,
  nowNs: bigint,
): Promise<void> {
  await untilCommitted(url, parameters, nowNs)
  const issuerId = accountIdOfKey(developmentKeys().issuer)
  const query = `{
    own: blocks(first: 1, filter: { issuerId: "${issuerId}" }) { nodes { slot } }
    pending: blocks(first: 1, filter: { state: PENDING }) { nodes { slot } }
  }`
  const isStill = async () => {
    const { own, pending } = (await graphql(url, query)).data
    return own.nodes[0]?.slot === slotOfTime(parameters, nowNs) && pending.nodes.length === 0
  }
  await until(isStill, { what: 'all blocks are booked', deadlineMs: 60_000 })
}

/** The newest milestone; -1 if the gateway does not answer yet. */
export async function newestOf(url: string): Promise<number> {
  const { data } = await graphql(url, '{ milestone { index } }')
  return data?.milestone?.index ?? -1
}
