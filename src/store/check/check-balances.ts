import type { Balance as BalanceModel } from '../../generated/prisma/client.ts'
import {
  type Balance,
  moveBalance,
  moveTokens,
  noBalance,
  noTokens,
  type TokenBalance,
  type TokenKey,
  tokenKeyOf,
  totalOf,
} from '../../ledger/balances-of-address.ts'
import { holdingAt } from '../../ledger/holdings.ts'
import { bytesToHex, type Hex } from '../../lib/hex.ts'
import type { ProtocolParameters } from '../../protocol/parameters.ts'
import type { SlotIndex } from '../../protocol/primitives.ts'
import type { Writing } from '../sql/statements.ts'
import { idFromBytes } from '../values.ts'
import { toBalance, toTokenBalance } from '../write/balance-rows.ts'
import { decodedOutput } from '../write/output-index.ts'
import { type CheckReport, isSame } from './findings.ts'

/** Newest committed slot, with the protocol parameters. */
export interface NewestSlot {
  readonly parameters: ProtocolParameters
  readonly slot: SlotIndex
}

/** Checks the balances of addresses against the unspent outputs. It holds the balances of all addresses in memory. */
export async function checkBalances(
  reading: Writing,
  { parameters, slot }: NewestSlot,
  report: CheckReport,
): Promise<void> {
  const balances = new Map<Hex, Balance>()
  const tokens = new Map<TokenKey, TokenBalance>()
  for await (const outputs of unspentOutputs(reading, slot)) {
    report.signal.throwIfAborted()
    for (const { output } of outputs) {
      const holding = holdingAt(output, slot + parameters.minCommittableAge)
      const move = { slot, sign: 1, holding, cause: 'LEDGER' } as const
      balances.set(holding.owner, moveBalance(balances.get(holding.owner) ?? noBalance, move))
      const key = tokenKeyOf(holding)
      if (key !== undefined) tokens.set(key, moveTokens(tokens.get(key) ?? noTokens, move))
    }
    report.advance(outputs.length)
  }
  await compareBalances(reading, balances, report)
  await compareTokens(reading, tokens, report)
}

async function* unspentOutputs({ tx, sql }: Writing, slot: SlotIndex) {
  let after: Uint8Array = new Uint8Array()
  for (;;) {
    const text = `SELECT id, bytes, "bookedSlot" FROM outputs
      WHERE id > ? AND "bookedSlot" <= ? AND ("spentSlot" IS NULL OR "spentSlot" > ?) ORDER BY id LIMIT ${perPage}`
    const rows = await tx.$queryRawUnsafe<
      { id: Uint8Array; bytes: Uint8Array; bookedSlot: bigint }[]
    >(sql.numbered(text), after, BigInt(slot), BigInt(slot))
    yield rows.map(({ id, bytes, bookedSlot }) =>
      decodedOutput({
        outputId: idFromBytes(id),
        bytes,
        bookedSlot: Number(bookedSlot),
        spentSlot: undefined,
      }),
    )
    if (rows.length < perPage) return
    after = rows.at(-1)?.id ?? after
  }
}

const perPage = 5_000

/** Compares the stored balances with the expected ones. Expected balances that remain have no row. */
async function compareBalances(
  reading: Writing,
  expected: Map<Hex, Balance>,
  report: CheckReport,
): Promise<void> {
  for await (const rows of balanceRows(reading)) {
    for (const row of rows) {
      const address = bytesToHex(row.address)
      const own = expected.get(address) ?? noBalance
      if (!isSame(toBalance(row), own) || row.total !== totalOf(own)) {
        report.found('BALANCE_WRONG', address)
      }
      expected.delete(address)
    }
  }
  for (const address of expected.keys()) report.found('BALANCE_WRONG', address)
}

/** Yields all balances, page by page. */
export async function* balanceRows({ tx, sql }: Writing): AsyncGenerator<BalanceModel[]> {
  const text = `SELECT * FROM balances WHERE address > ? ORDER BY address LIMIT ${perPage}`
  let after: Uint8Array = new Uint8Array()
  for (;;) {
    const rows = await tx.$queryRawUnsafe<BalanceModel[]>(sql.numbered(text), after)
    yield rows
    if (rows.length < perPage) return
    after = rows.at(-1)?.address ?? after
  }
}

async function compareTokens(
  { tx }: Writing,
  expected: Map<TokenKey, TokenBalance>,
  report: CheckReport,
): Promise<void> {
  for (let skip = 0; ; skip += perPage) {
    const orderBy = [{ address: 'asc' }, { tokenId: 'asc' }] as const
    const rows = await tx.tokenBalance.findMany({ orderBy: [...orderBy], take: perPage, skip })
    for (const row of rows) {
      const key: TokenKey = `${bytesToHex(row.address)}:${idFromBytes<'FoundryId'>(row.tokenId)}`
      const own = expected.get(key) ?? noTokens
      const total = BigInt(bytesToHex(row.total))
      if (
        !isSame(toTokenBalance(row), own) ||
        total !== own.available + own.timelocked + own.expiring
      ) {
        report.found('TOKEN_BALANCE_WRONG', key)
      }
      expected.delete(key)
    }
    if (rows.length < perPage) break
  }
  for (const key of expected.keys()) report.found('TOKEN_BALANCE_WRONG', key)
}
