import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { openSigningKey } from '../../../src/api/tokens/signing-key.ts'
import { issueToken, type Scope } from '../../../src/api/tokens/token.ts'
import { type Environment, parseConfig } from '../../../src/config.ts'
import { openGateway } from '../../../src/gateway.ts'
import { nowMs } from '../../../src/lib/clock.ts'
import type { Result } from '../../../src/lib/result.ts'
import { Block, type BlockBody } from '../../../src/protocol/block.ts'
import { identifyBlock, slotOfId } from '../../../src/protocol/ids.ts'
import type { Keypair } from '../../../src/protocol/keys.ts'
import { ProtocolParameters } from '../../../src/protocol/parameters.ts'
import type { AccountId, BlockId, SlotIndex } from '../../../src/protocol/primitives.ts'
import { encode, print } from '../../../src/protocol/schema/schema.ts'
import { nodeWorkScore } from '../../../src/protocol/score.ts'
import { slotOfTime } from '../../../src/protocol/slots.ts'
import type { Payload } from '../../../src/protocol/transaction.ts'
import { firstSlot, type Moment, worldParameters } from '../../support/ledger-world.ts'
import { createMemoryLog } from '../../support/memory-log.ts'
import type { Random } from '../../support/random.ts'
import { createSettableClock } from '../../support/settable-clock.ts'
import { issuer, offerOf } from '../../support/wallet.ts'
import type { Refusal } from '../admission.ts'
import { untilCommitted, untilStill } from './still.ts'
import { payloadWays, submitBlock, type Way, ways } from './ways.ts'

/** A gateway in this process with a manual clock, which a history can close and open again. */
export interface HistoryWorld {
  /** The root URL of the gateway. */
  readonly url: string
  readonly databaseUrl: string
  readonly random: Random
  /** The current slot with the commitment that blocks refer to. */
  moment(): Promise<Moment>
  /** Signs a block and submits it in a random way, or in the given one. */
  send(moment: Moment, draft: BlockDraft): Promise<Sent>
  /** Advances the clock by some slots, and waits for the commitment that is then due. */
  pass(slots: number): Promise<void>
  /** Sets the clock back for the time of a function. The clock of a machine leaps in this way when it is corrected. */
  inThePast(seconds: number, act: () => Promise<unknown>): Promise<void>
  /** Closes the gateway, lets some slots pass, and opens it again, or lets a standby take over. */
  restart(slots: number): Promise<void>
  /** Closes the gateway of a former version, and opens this one. */
  upgrade(): Promise<void>
  /** Opens another gateway with the same clock; its settings replace those of the world. */
  another(settings: Environment): Promise<OpenedGateway>
  /** Waits until a gateway has committed every slot that is due, issued its own block of the slot, and booked all blocks. */
  untilStill(url: string): Promise<void>
  /** A folder for files. */
  readonly folder: string
  /** Issues a token for a gateway of this world. */
  token(subject: string, ...scopes: Scope[]): Promise<string>
  /** The blocks that the gateway acknowledged. */
  readonly acknowledged: ReadonlySet<BlockId>
  readonly refusals: readonly Refusal[]
  /** How often each outcome occurred. */
  readonly outcomes: ReadonlyMap<string, number>
  count(outcome: string): void
  /** The log events of level warn and error. */
  warnings(): readonly string[]
  /** How often reads moved to another server. */
  readsMoved(): number
  close(): Promise<void>
}

/** A gateway in this process. */
export interface OpenedGateway {
  readonly url: string
  close(): Promise<void>
}

/** A block without its header. */
export interface BlockDraft {
  readonly payload?: Payload | undefined
  readonly by?: { readonly accountId: AccountId; readonly key: Keypair }
  /** A vote of a validator, with the newest protocol version that it supports; 3 by default. */
  readonly isVote?: boolean
  readonly supports?: number
  /** The mana to burn; enough by default. */
  readonly burn?: bigint
  /** By how many nanoseconds the block is ahead of its time. */
  readonly ahead?: bigint
  readonly way?: Way
  /** Chooses the way; the generator of the world by default. Players act at once, so each of them has a generator. */
  readonly chance?: Random
}

/** The outcome of a submission. */
export interface Sent {
  readonly isAccepted: boolean
  readonly blockId: BlockId
  readonly slot: SlotIndex
}

const remaining = 0.9
const factors = [1, 2, 3, 4, 5].map((epochs) => Math.floor(remaining ** epochs * 2 ** 32))

/** Epochs in which mana decays and rewards expire, and a price that a few blocks change. */
export const historyParameters: ProtocolParameters = {
  ...worldParameters,
  networkName: 'ledger-gateway-dev',
  validationBlocksPerSlot: 2,
  stakingUnbondingPeriod: 1,
  manaParameters: {
    ...worldParameters.manaParameters,
    decayFactors: factors,
    decayFactorEpochsSum: Math.floor((remaining / (1 - remaining)) * 2 ** 20),
    decayFactorEpochsSumExponent: 20,
  },
  congestionControlParameters: {
    ...worldParameters.congestionControlParameters,
    increaseThreshold: 6_000_000,
    decreaseThreshold: 2_000_000,
  },
  rewardsParameters: { ...worldParameters.rewardsParameters, retentionPeriod: 3 },
}

/** Opens a world on an empty database. `settings` apply from the first restart on, and `former` is the checkout that runs first. */
export async function openWorld(
  databaseUrl: string,
  random: Random,
  { settings, former }: { readonly settings: Environment; readonly former?: string | undefined },
): Promise<HistoryWorld> {
  let version = former === undefined ? thisVersion : await versionAt(former)
  const folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-history-'))
  const file = join(folder, 'parameters.json')
  writeFileSync(file, JSON.stringify(print(ProtocolParameters, historyParameters)))
  const env = {
    ...{ PORT: '0', DATABASE_URL: databaseUrl, KEY_FILE: join(folder, 'key') },
    ...{ PARAMETERS_FILE: file, STATE_MEMORY: `${random.between(0, 1)}`, MAX_LOOP_DELAY: '0' },
    ...{ CLIENT_COST: '100000000', CLIENT_CONNECTIONS: '10000', CLIENT_PAYLOADS: '1000000' },
  }
  const config = unwrap(parseConfig(env, []))
  let port = '0'
  let slot = firstSlot
  let issued = 0n
  const clock = createSettableClock(timeOf(slot))
  const logs: (readonly string[])[] = []
  const acknowledged = new Set<BlockId>()
  const refusals: Refusal[] = []
  let recent: readonly { readonly blockId: BlockId; readonly issuingTime: bigint }[] = []
  const outcomes = new Map<string, number>()
  let gateway = await open({})
  // Its subscribers and followers find it again after a restart.
  port = new URL(gateway.url).port

  async function open(changes: Environment) {
    const { log, lines } = createMemoryLog(clock)
    logs.push(lines)
    const common = port === '0' ? env : { ...env, PORT: port, ...settings }
    const opened = unwrap(version.parseConfig({ ...common, ...changes }, []))
    return unwrap(await version.openGateway(opened, { clock, log }))
  }

  function count(outcome: string): void {
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
  }

  async function moment(): Promise<Moment> {
    const offer = await offerOf(gateway.url)
    const { slotCommitmentId: commitmentId } = offer.header
    return { offer, slot, commitmentId, committed: slotOfId(commitmentId) }
  }

  async function send({ offer }: Moment, draft: BlockDraft): Promise<Sent> {
    const { by = issuer, ahead = 0n } = draft
    for (const time of [clock.nowNs(), offer.header.issuingTime]) if (time > issued) issued = time
    // Every block has a time of its own.
    issued += 1n
    const issuingTime = issued + ahead
    const header = { ...offer.header, issuerId: by.accountId, issuingTime }
    const unsigned = {
      header,
      body: bodyOf(draft, offer, otherParents(draft, offer, issuingTime)),
      signature: by.key.sign(new Uint8Array()),
    }
    const cost = BigInt(nodeWorkScore(historyParameters, unsigned)) * mostPrice
    const body =
      unsigned.body.type === 1
        ? unsigned.body
        : { ...unsigned.body, maxBurnedMana: draft.burn ?? cost }
    const issuedIn = slotOfTime(historyParameters, issuingTime)
    const { signingInput } = identifyBlock(encode(Block, { ...unsigned, body }), issuedIn)
    const block: Block = { ...unsigned, body, signature: by.key.sign(signingInput) }
    const bytes = encode(Block, block)
    const { blockId } = identifyBlock(bytes, issuedIn)
    const way = anyWay(draft)
    const finished = { block, bytes }
    const { status, message, blockIds } = await submitBlock(gateway.url, finished, way).catch(
      (failure) => {
        // A client whose connection ends sends the block again.
        count(`${way} got no answer: ${failure.code ?? failure}`)
        return submitBlock(gateway.url, finished, 'bytes')
      },
    )
    const isAccepted = status === 201
    if (isAccepted) {
      if (!isOfPayload(way)) recent = [...recent.slice(-9), { blockId, issuingTime }]
      for (const id of blockIds) {
        if (id !== blockId && !isOfPayload(way)) count(`${way} answered another id`)
        acknowledged.add(id)
      }
    } else if (!isOfPayload(way)) refusals.push({ status, message, bytes })
    const shape = message.replace(/0x[0-9a-f]+|\d{3,}/g, '#').slice(0, 100)
    count(isAccepted ? `201 by ${way}` : `${status} ${shape}`)
    return { isAccepted, blockId, slot: issuedIn }
  }

  /** Some recent blocks that are older than a new block and not its strong parents. */
  function otherParents(
    { chance = random }: BlockDraft,
    { strongParents }: Moment['offer'],
    before: bigint,
  ): readonly BlockId[] {
    if (chance.between(0, 2) > 0) return []
    const older = recent.filter(
      ({ blockId, issuingTime }) => issuingTime < before && slotOfId(blockId) > slot - 3,
    )
    const others = older.map(({ blockId }) => blockId).filter((id) => !strongParents.includes(id))
    return chance.shuffled([...new Set(others)]).slice(0, chance.between(1, 3))
  }

  /** A payload alone goes to the node only if nothing is special about its block. */
  function anyWay({ way, payload, by, burn, ahead = 0n, chance = random }: BlockDraft): Way {
    if (way !== undefined) return way
    const isPlain = payload?.type === 1 && by === undefined && burn === undefined && ahead === 0n
    const all = isPlain ? [...ways, ...payloadWays] : ways
    return all[chance.between(0, all.length - 1)] ?? 'bytes'
  }

  const untilDue = () => untilCommitted(gateway.url, historyParameters, clock.nowNs())

  function advance(slots: number): void {
    slot += slots
    clock.advance(timeOf(slot) - clock.nowNs())
  }

  return {
    get url() {
      return gateway.url
    },
    ...{ databaseUrl, folder, random, moment, send, acknowledged, refusals, outcomes, count },
    another: (changes) => open({ ...changes, PORT: '0' }),
    untilStill: (url) => untilStill(url, historyParameters, clock.nowNs()),
    pass: async (slots) => {
      advance(slots)
      await untilDue()
    },
    inThePast: async (seconds, act) => {
      clock.set(clock.nowNs() - BigInt(seconds) * 1_000_000_000n)
      await act()
      clock.set(timeOf(slot))
    },
    restart: async (slots) => {
      // On PostgreSQL a standby may take over.
      const isShared = !databaseUrl.startsWith('file:')
      const standby = isShared && random.between(0, 1) ? await open({ PORT: '0' }) : undefined
      await gateway.close()
      advance(slots)
      gateway = standby ?? (await open({}))
      port = new URL(gateway.url).port
      await untilDue()
    },
    upgrade: async () => {
      await gateway.close()
      version = thisVersion
      gateway = await open({})
      await untilDue()
    },
    token: async (subject, ...scopes) => {
      const key = unwrap(await openSigningKey(config.signing))
      return issueToken(key, { subject, scopes, lifetimeSeconds: 36_000, nowMs: nowMs(clock) })
    },
    warnings: () =>
      logs.flat().flatMap((line) => {
        const { level, event, error } = JSON.parse(line)
        return level === 'warn' || level === 'error' ? [`${level} ${event} ${error ?? ''}`] : []
      }),
    readsMoved: () => logs.flat().filter((line) => line.includes('"reads-moved"')).length,
    close: async () => {
      await gateway.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** A version of the program. */
interface Version {
  readonly parseConfig: typeof parseConfig
  readonly openGateway: typeof openGateway
}

const thisVersion: Version = { parseConfig, openGateway }

/** Loads a version from its checkout, which must have been built. */
async function versionAt(folder: string): Promise<Version> {
  const load = (file: string) => import(pathToFileURL(join(folder, file)).href)
  const [config, gateway] = await Promise.all([load('src/config.ts'), load('src/gateway.ts')])
  return { parseConfig: config.parseConfig, openGateway: gateway.openGateway }
}

function isOfPayload(way: Way): boolean {
  return payloadWays.some((one) => one === way)
}

/** More than the price ever becomes in a history. */
const mostPrice = 100n

function bodyOf(
  { isVote, supports = 3, payload }: BlockDraft,
  { strongParents, network }: Moment['offer'],
  [shallow, ...weak]: readonly BlockId[],
): BlockBody {
  const shallowLikeParents = shallow === undefined ? [] : [shallow]
  const parents = { strongParents, weakParents: weak.sort(), shallowLikeParents }
  if (!isVote) return { type: 0, ...parents, payload, maxBurnedMana: 0n }
  const protocolParametersHash = network.parametersHash
  return { type: 1, ...parents, highestSupportedVersion: supports, protocolParametersHash }
}

/** The middle of a slot, in nanoseconds. */
function timeOf(slot: SlotIndex): bigint {
  const seconds = historyParameters.genesisUnixTimestamp + BigInt(slot) - 1n
  return seconds * 1_000_000_000n + 500_000_000n
}

function unwrap<T>(result: Result<T, unknown>): T {
  if (!result.ok) throw new Error(`unexpected error: ${JSON.stringify(result.error)}`)
  return result.value
}
