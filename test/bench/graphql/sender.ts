import { present } from '../../../src/lib/assert.ts'
import { accountIdOfKey, fundedAmount } from '../../../src/node/embedded/development.ts'
import type { Payload } from '../../../src/protocol/transaction.ts'
import {
  blockOf,
  genesisOutputs,
  type Offer,
  offerOf,
  ownedBy,
  paymentOf,
  slotNow,
  taggedData,
} from '../../support/wallet.ts'
import { keyOf } from '../keys.ts'
import { openLine } from '../rest/load.ts'
import { lanes } from './data.ts'

/**
 * Sends signed blocks to a gateway at a steady rate until its parent exits: `sender.ts URL BLOCKS_PER_SECOND tagged|transfers`. The
 * messages `pause` and `resume` of the parent interrupt it.
 */

const [url = '', perSecond = '', kind] = process.argv.slice(2)
const key = keyOf(0)
/** The amount of one transfer. */
const paid = 100_000n
const spare = await Promise.all(
  Array.from({ length: 256 }, () => openLine(Number(new URL(url).port))),
)
const counts = { accepted: 0, refused: 0 }
const nextPayload = kind === 'transfers' ? await createTransfers() : nextTag

let offer = await offerOf(url)
process.on('disconnect', () => process.exit())
process.on('message', (message) => {
  if (message === 'pause') clearInterval(sending)
  else begin()
})

let sent = 0
/** When the sender began or resumed, and the number of blocks before that. */
let begun = { ms: 0, sent }
let sending: NodeJS.Timeout | undefined
begin()
// Ignores the error if the parent has exited.
setInterval(() => process.send?.(counts, undefined, undefined, () => {}), 50)
// The parents and the commitment of an offer become too old.
setInterval(renewOffer, 2_000)

function begin(): void {
  begun = { ms: performance.now(), sent }
  sending = setInterval(sendDue, 5)
}

function sendDue(): void {
  const due = begun.sent + ((performance.now() - begun.ms) * Number(perSecond)) / 1_000
  for (; sent < due; sent++) {
    const line = spare.pop()
    // Without a free connection, the gateway is too slow; the block is not sent later.
    if (line === undefined) counts.refused++
    else send(line, nextPayload(offer, sent)).catch(console.error)
  }
}

function renewOffer(): void {
  offerOf(url).then((fresh) => {
    offer = fresh
  }, console.error)
}

async function send(line: (typeof spare)[number], payload: Payload): Promise<void> {
  const header = { issuerId: accountIdOfKey(key) }
  const { bytes } = blockOf(offer, payload, { key, header })
  const { status } = await line.postBlock('/api/core/v3/blocks', bytes)
  if (status === 201) counts.accepted++
  else counts.refused++
  spare.push(line)
}

function nextTag(_offer: Offer, n: number): Payload {
  return taggedData(
    '0x62656e6368',
    `0x${(Date.now() * 1_000 + (n % 1_000)).toString(16).padStart(64, '0')}`,
  )
}

/** Chains of transfers: each key pays the next one a small amount and continues with the remainder. */
async function createTransfers() {
  const left = await Promise.all(
    Array.from({ length: lanes }, async (_, lane) => {
      const owner = keyOf(lane)
      const [outputId] = await genesisOutputs(url, owner)
      return { owner, outputId: present(outputId, 'an output'), amount: fundedAmount }
    }),
  )
  return ({ network }: Offer, n: number): Payload => {
    const lane = present(left[n % lanes], 'a lane')
    const receiver = present(left[(n + 1) % lanes], 'a lane').owner
    lane.amount -= paid
    const { payload, created } = paymentOf(network, {
      spend: lane.outputId,
      key: lane.owner,
      outputs: [ownedBy(receiver, paid), ownedBy(lane.owner, lane.amount)],
      creationSlot: slotNow(network),
    })
    lane.outputId = present(created[1], 'the rest')
    return payload
  }
}
