import { chainId } from '../../src/ledger/chains.ts'
import { conditionOf, featureOf } from '../../src/ledger/output-parts.ts'
import { present } from '../../src/lib/assert.ts'
import { bytesToHex, type Hex } from '../../src/lib/hex.ts'
import { accountIdOfKey, developmentKeys } from '../../src/node/embedded/development.ts'
import type { Ed25519Address } from '../../src/protocol/addresses.ts'
import { BlockIssuer, NativeToken } from '../../src/protocol/features.ts'
import { addressKey, foundryIdFrom } from '../../src/protocol/ids.ts'
import type {
  AccountOutput,
  AnchorOutput,
  BasicOutput,
  DelegationOutput,
  FoundryOutput,
  NftOutput,
  Output,
} from '../../src/protocol/outputs.ts'
import { isZero } from '../../src/protocol/outputs.ts'
import type { AccountId, FoundryId, Id } from '../../src/protocol/primitives.ts'
import { epochOfSlot, lastSlotOfEpoch } from '../../src/protocol/slots.ts'
import { Governor, StateController } from '../../src/protocol/unlock-conditions.ts'
import type { ModelOutput } from './balance-model.ts'
import { worldParameters } from './ledger-world.ts'
import { addressOfChain, chainAddress, type Plan, type Spend } from './player.ts'
import {
  anyKey,
  anyOwner,
  balanced,
  boundsOf,
  type Draft,
  pick,
  plain,
  spendable,
  spenderOf,
  type Turn,
} from './player-coins.ts'

/** The moves of a player: they create, change and destroy outputs of every kind. */

/** Returns the plan of a move, or `undefined` if the player has no output for it. */
export type Move = (turn: Turn) => Plan | undefined

const zeroId = `0x${'00'.repeat(32)}` as const
const amount = 2_000_000n

/** Spends one or two basic outputs, and creates one or two with random conditions. */
const send: Move = (turn) => {
  const { random } = turn
  const spends = random.shuffled(spendable(turn, 0)).slice(0, random.between(1, 2))
  const [first] = spends
  if (first === undefined) return undefined
  const made = Array.from({ length: random.between(1, 2) }, (): BasicOutput => {
    const { by } = first
    const sender = random.between(0, 3) === 0 ? [{ type: 0, address: by } as const] : []
    return { ...conditioned(turn, amount), features: [...sender, ...tagged(turn)] }
  })
  return balanced(turn, { name: 'send', spends, outputs: made })
}

/** A basic output with random conditions whose slots are close to the moment. */
function conditioned(turn: Turn, held: bigint): BasicOutput {
  const { random } = turn
  const { earliest, latest } = boundsOf(turn.moment)
  const unlockConditions: BasicOutput['unlockConditions'][number][] = [
    { type: 0, address: anyOwner(turn) },
  ]
  if (random.between(0, 2) === 0) {
    unlockConditions.push({ type: 1, returnAddress: anyKey(turn), amount: 100_000n })
  }
  if (random.between(0, 2) === 0) {
    unlockConditions.push({ type: 2, slot: earliest + random.between(-1, 5) })
  }
  if (random.between(0, 2) === 0) {
    unlockConditions.push({
      type: 3,
      returnAddress: anyKey(turn),
      slot: latest + random.between(-4, 5),
    })
  }
  return { type: 0, amount: held, mana: 0n, unlockConditions, features: [] }
}

function tagged({ random }: Turn): { readonly type: 4; readonly tag: Hex }[] {
  return random.between(0, 3) === 0 ? [{ type: 4, tag: '0xcafe' }] : []
}

const mintNft: Move = (turn) => {
  const issuer = anyKey(turn)
  const payer = spendable(turn, 0).find(({ by }) => addressKey(by) === addressKey(issuer))
  const { unlockConditions } = conditioned(turn, amount)
  const nft: NftOutput = {
    ...{ type: 4, amount, mana: 0n, nftId: zeroId as Id<'NftId'>, unlockConditions },
    features: tagged(turn),
    immutableFeatures: [...(payer === undefined ? [] : [issuedBy(issuer)]), nftMetadata],
  }
  return balanced(turn, { name: 'mintNft', spends: payer ? [payer] : [], outputs: [nft] })
}

const issuedBy = (address: Ed25519Address) => ({ type: 1, address }) as const

/** A name, and a picture of one pixel. */
const nftMetadata = {
  type: 2,
  entries: [
    {
      key: 'irc27',
      value: bytesToHex(
        Buffer.from(
          '{"name":"Pixel","uri":"data:image/gif;base64,R0lGODlhAQABAIAAAP8AAP///ywAAAAAAQABAAACAkQBADs="}',
        ),
      ),
    },
  ],
} as const

const moveNft: Move = (turn) => {
  const spend = pick(turn.random, spendable(turn, 4))
  if (spend?.coin.output.type !== 4) return undefined
  const { unlockConditions } = conditioned(turn, amount)
  const next = nextNft(spend.coin, {
    unlockConditions: notOwnedByItself(spend.coin, unlockConditions),
  })
  return balanced(turn, { name: 'moveNft', spends: [spend], outputs: [next] })
}

function nextNft({ output, outputId }: ModelOutput, changes: Partial<NftOutput>): NftOutput {
  if (output.type !== 4) throw new Error('the output is not an NFT')
  return { ...output, nftId: chainId(output, outputId) as Id<'NftId'>, ...changes }
}

function notOwnedByItself<
  C extends NftOutput['unlockConditions'] | AccountOutput['unlockConditions'],
>(coin: ModelOutput, conditions: C): C {
  const self = addressOfChain(coin)
  const isCycle = conditions.some((one) => 'address' in one && addressKey(one.address) === self)
  return isCycle ? (coin.output.unlockConditions as C) : conditions
}

const burnNft: Move = (turn) => {
  const spend = pick(turn.random, spendable(turn, 4))
  return spend && balanced(turn, { name: 'burnNft', spends: [spend], outputs: [] })
}

const createAccount: Move = (turn) => {
  const account: AccountOutput = {
    ...{ type: 1, amount, mana: 0n, accountId: zeroId as AccountId, foundryCounter: 0 },
    unlockConditions: [{ type: 0, address: anyKey(turn) }],
    features: turn.random.between(0, 1) === 0 ? [] : [issuing(turn)],
    immutableFeatures: [],
  }
  return balanced(turn, { name: 'createAccount', spends: [], outputs: [account] })
}

/** A block issuer feature that expires as early as the rules allow, or later. */
function issuing(turn: Turn) {
  const { latest } = boundsOf(turn.moment)
  const [key] = turn.player.keys
  const blockIssuerKeys = [{ type: 0, pubKeyHash: key.publicKeyHash }] as const
  return { type: 6, expirySlot: latest + turn.random.between(0, 3), blockIssuerKeys } as const
}

/** An account with the context of its transition; `undefined` while the commitment does not contain its credits. */
function accountToMove(
  turn: Turn,
): { spend: Spend; next: AccountOutput; credits: AccountId[] } | undefined {
  const spend = pick(turn.random, spendable(turn, 1))
  const output = spend?.coin.output
  if (spend === undefined || output?.type !== 1) return undefined
  const accountId = chainId(output, spend.coin.outputId) as AccountId
  const issuer = featureOf(output, BlockIssuer)
  if (issuer === undefined) return { spend, next: { ...output, accountId }, credits: [] }
  const { committed } = turn.moment
  if (spend.coin.bookedSlot > committed) return undefined
  const isExpired = issuer.expirySlot < committed
  const features = output.features.map((one) => (one.type === 6 && isExpired ? issuing(turn) : one))
  return { spend, next: { ...output, accountId, features }, credits: [accountId] }
}

const moveAccount: Move = (turn) => {
  const moved = accountToMove(turn)
  if (moved === undefined) return undefined
  const { spend, next, credits } = moved
  const isNew = featureOf(next, BlockIssuer) === undefined && turn.random.between(0, 1) === 0
  const features = isNew ? [issuing(turn)] : next.features
  const unlockConditions = [{ type: 0, address: anyKey(turn) }] as const
  const outputs = [{ ...next, features, unlockConditions, amount: next.amount + 1_000n }]
  return balanced(turn, { name: 'moveAccount', spends: [spend], outputs, credits })
}

const destroyAccount: Move = (turn) => {
  const moved = accountToMove(turn)
  if (moved === undefined) return undefined
  const { spend, credits } = moved
  const issuer = featureOf(spend.coin.output, BlockIssuer)
  if (issuer !== undefined && issuer.expirySlot >= turn.moment.committed) return undefined
  return balanced(turn, { name: 'destroyAccount', spends: [spend], outputs: [], credits })
}

const createFoundry: Move = (turn) => {
  const moved = accountToMove(turn)
  if (moved === undefined) return undefined
  const { spend, next, credits } = moved
  const serialNumber = next.foundryCounter + 1
  const minted = BigInt(turn.random.between(0, 1_000))
  const id = foundryIdFrom(next.accountId, serialNumber, 0)
  const kept = minted / 3n
  const foundry: FoundryOutput = {
    ...{ type: 3, amount, serialNumber },
    tokenScheme: { type: 0, mintedTokens: minted, meltedTokens: 0n, maximumSupply: 5_000n },
    unlockConditions: [{ type: 6, address: { type: 8, accountId: next.accountId } }],
    features: kept === 0n ? [] : [{ type: 5, id, amount: kept }],
    immutableFeatures: [],
  }
  const outputs = [
    { ...next, foundryCounter: serialNumber },
    foundry,
    ...holding(turn, id, minted - kept),
  ]
  return balanced(turn, { name: 'createFoundry', spends: [spend], outputs, credits })
}

function holding(turn: Turn, id: FoundryId, tokens: bigint): BasicOutput[] {
  if (tokens === 0n) return []
  return [{ ...conditioned(turn, amount), features: [{ type: 5, id, amount: tokens }] }]
}

/** A foundry with its account, which precedes it in the inputs. */
function foundryToMove(turn: Turn) {
  const moved = accountToMove(turn)
  if (moved === undefined) return undefined
  const by = { type: 8, accountId: moved.next.accountId } as const
  const own = turn.coins.flatMap((coin) =>
    coin.output.type === 3 && coin.output.unlockConditions[0]?.address.accountId === by.accountId
      ? [{ coin, output: coin.output }]
      : [],
  )
  const foundry = pick(turn.random, own)
  if (foundry === undefined) return undefined
  const id = foundryIdFrom(by.accountId, foundry.output.serialNumber, 0)
  const held = spendable(turn, 0).filter(
    ({ coin }) => featureOf(coin.output, NativeToken)?.id === id,
  )
  return { ...moved, foundry: { coin: foundry.coin, by }, output: foundry.output, id, held }
}

const mintTokens: Move = (turn) => {
  const found = foundryToMove(turn)
  if (found === undefined) return undefined
  const { spend, next, credits, foundry, output, id } = found
  const tokens = BigInt(turn.random.between(1, 100))
  const mintedTokens = output.tokenScheme.mintedTokens + tokens
  if (mintedTokens - output.tokenScheme.meltedTokens > output.tokenScheme.maximumSupply)
    return undefined
  const tokenScheme = { ...output.tokenScheme, mintedTokens }
  const outputs = [next, { ...output, tokenScheme }, ...holding(turn, id, tokens)]
  return balanced(turn, { name: 'mintTokens', spends: [spend, foundry], outputs, credits })
}

const meltTokens: Move = (turn) => {
  const found = foundryToMove(turn)
  const melted = found && pick(turn.random, found.held)
  if (found === undefined || melted === undefined) return undefined
  const { spend, next, credits, foundry, output, id } = found
  const tokens = present(featureOf(melted.coin.output, NativeToken), 'tokens').amount
  const meltedTokens = output.tokenScheme.meltedTokens + tokens
  const outputs = [next, { ...output, tokenScheme: { ...output.tokenScheme, meltedTokens } }]
  const spends = [spend, foundry, melted]
  return balanced(turn, { name: 'meltTokens', spends, outputs, credits, settled: id })
}

/** Possible only if the foundry itself or spendable outputs hold all remaining tokens. */
const destroyFoundry: Move = (turn) => {
  const found = foundryToMove(turn)
  if (found === undefined) return undefined
  const { spend, next, credits, foundry, output, id, held } = found
  const { mintedTokens, meltedTokens } = output.tokenScheme
  const inputs = [foundry, ...held].map(
    ({ coin }) => featureOf(coin.output, NativeToken)?.amount ?? 0n,
  )
  const sum = inputs.reduce((all, tokens) => all + tokens, 0n)
  if (sum !== mintedTokens - meltedTokens) return undefined
  const spends = [spend, foundry, ...held]
  return balanced(turn, { name: 'destroyFoundry', spends, outputs: [next], credits, settled: id })
}

const createAnchor: Move = (turn) => {
  const anchor: AnchorOutput = {
    ...{ type: 2, amount, mana: 0n, anchorId: zeroId as Id<'AnchorId'>, stateIndex: 0 },
    unlockConditions: [
      { type: 4, address: anyKey(turn) },
      { type: 5, address: anyKey(turn) },
    ],
    features: [],
    immutableFeatures: [],
  }
  return balanced(turn, { name: 'createAnchor', spends: [], outputs: [anchor] })
}

function anchorToMove(turn: Turn, holder: typeof StateController | typeof Governor) {
  const coin = pick(
    turn.random,
    turn.coins.filter(({ output }) => output.type === 2),
  )
  if (coin?.output.type !== 2) return undefined
  const by = present(conditionOf(coin.output, holder), 'a holder').address
  const anchorId = chainId(coin.output, coin.outputId) as Id<'AnchorId'>
  return { spend: { coin, by }, next: { ...coin.output, anchorId } }
}

const stateAnchor: Move = (turn) => {
  const moved = anchorToMove(turn, StateController)
  if (moved === undefined) return undefined
  const { spend, next } = moved
  const outputs = [{ ...next, stateIndex: next.stateIndex + 1, amount: next.amount + 5_000n }]
  return balanced(turn, { name: 'stateAnchor', spends: [spend], outputs })
}

const governAnchor: Move = (turn) => {
  const moved = anchorToMove(turn, Governor)
  if (moved === undefined) return undefined
  const unlockConditions: AnchorOutput['unlockConditions'] = [
    { type: 4, address: anyKey(turn) },
    { type: 5, address: anyKey(turn) },
  ]
  const outputs = [{ ...moved.next, unlockConditions }]
  return balanced(turn, { name: 'governAnchor', spends: [moved.spend], outputs })
}

const destroyAnchor: Move = (turn) => {
  const moved = anchorToMove(turn, Governor)
  return moved && balanced(turn, { name: 'destroyAnchor', spends: [moved.spend], outputs: [] })
}

/** The account of the gateway's issuer, which is a validator. */
const validatorAddress = { type: 8, accountId: accountIdOfKey(developmentKeys().issuer) } as const

const delegate: Move = (turn) => {
  const delegation: DelegationOutput = {
    ...{ type: 5, amount, delegatedAmount: amount, delegationId: zeroId as Id<'DelegationId'> },
    validatorAddress,
    startEpoch: firstEpochBehind(boundsOf(turn.moment).latest) + 1,
    endEpoch: 0,
    unlockConditions: [{ type: 0, address: anyKey(turn) }],
  }
  return balanced(turn, { name: 'delegate', spends: [], outputs: [delegation] })
}

/** The epoch of a slot, or the next epoch if the committee of the next epoch is already selected. */
function firstEpochBehind(slot: number): number {
  const epoch = epochOfSlot(worldParameters, slot)
  const registered = lastSlotOfEpoch(worldParameters, epoch) - worldParameters.epochNearingThreshold
  return slot <= registered ? epoch : epoch + 1
}

const delayClaim: Move = (turn) => {
  const { earliest } = boundsOf(turn.moment)
  const fresh = spendable(turn, 5).filter(
    ({ coin }) => coin.output.type === 5 && isZero(coin.output.delegationId),
  )
  const spend = pick(turn.random, fresh)
  if (spend?.coin.output.type !== 5) return undefined
  const delegationId = chainId(spend.coin.output, spend.coin.outputId) as Id<'DelegationId'>
  const endEpoch = firstEpochBehind(earliest)
  const outputs = [{ ...spend.coin.output, delegationId, endEpoch }]
  return balanced(turn, { name: 'delayClaim', spends: [spend], outputs })
}

const endDelegation: Move = (turn) => {
  const spend = pick(turn.random, spendable(turn, 5))
  const draft = { name: 'endDelegation', outputs: [], rewards: [0] } as const
  return spend && balanced(turn, { ...draft, spends: [spend] })
}

/** Starts an account with an implicit account creation address. */
const createImplicitly: Move = (turn) => {
  const address = { type: 32, pubKeyHash: anyKey(turn).pubKeyHash } as const
  return balanced(turn, { name: 'createImplicitly', spends: [], outputs: [plain(address, amount)] })
}

const convertAccount: Move = (turn) => {
  const begun = turn.coins.filter(
    ({ output, bookedSlot }) =>
      spenderOf(output, turn.moment)?.type === 32 && bookedSlot <= turn.moment.committed,
  )
  const coin = pick(turn.random, begun)
  const by = coin && spenderOf(coin.output, turn.moment)
  if (coin === undefined || by === undefined) return undefined
  const accountId = chainId(coin.output, coin.outputId) as AccountId
  const account: AccountOutput = {
    ...{ type: 1, amount, mana: 0n, accountId, foundryCounter: 0 },
    unlockConditions: [{ type: 0, address: anyKey(turn) }],
    features: [issuing(turn)],
    immutableFeatures: [],
  }
  const draft: Draft = { name: 'convertAccount', spends: [{ coin, by }], outputs: [account] }
  return balanced(turn, { ...draft, credits: [accountId] })
}

/** Spends an output that an account or NFT of the player owns, together with that account or NFT. */
const takeFromChain: Move = (turn) => {
  const nft = pick(turn.random, spendable(turn, 4))
  const account = accountToMove(turn)
  const nftMove = nft && { spend: nft, next: nextNft(nft.coin, {}), credits: [] }
  const moved: { spend: Spend; next: Output; credits: AccountId[] } | undefined =
    turn.random.between(0, 1) === 0 ? (nftMove ?? account) : (account ?? nftMove)
  if (moved === undefined) return undefined
  const { spend, next, credits } = moved
  const by = present(chainAddress(spend.coin.output, spend.coin.outputId), 'the address of a chain')
  const owned = turn.coins.filter(({ output }) => {
    const spender = spenderOf(output, turn.moment)
    return output.type === 0 && spender !== undefined && addressKey(spender) === addressKey(by)
  })
  if (owned.length === 0) return undefined
  const spends = [spend, ...owned.map((coin) => ({ coin, by }))]
  return balanced(turn, { name: 'takeFromChain', spends, outputs: [next], credits })
}

/** All moves by name. */
export const moves: Readonly<Record<string, Move>> = {
  send,
  mintNft,
  moveNft,
  burnNft,
  createAccount,
  moveAccount,
  destroyAccount,
  createFoundry,
  mintTokens,
  meltTokens,
  destroyFoundry,
  createAnchor,
  stateAnchor,
  governAnchor,
  destroyAnchor,
  delegate,
  delayClaim,
  endDelegation,
  createImplicitly,
  convertAccount,
  takeFromChain,
}

/** The plan of a random move that the player can make now. */
export function anyMove(turn: Turn): Plan | undefined {
  for (const move of turn.random.shuffled(Object.values(moves))) {
    const plan = move(turn)
    if (plan !== undefined) return plan
  }
  return undefined
}
