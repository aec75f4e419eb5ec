import { chainTexts } from '../texts-chains.ts'
import { Amount } from './amount.tsx'
import { Fact } from './facts.tsx'
import { Id, PlainId } from './id.tsx'
import { Time } from './time.tsx'

/** Components that the pages of accounts, anchors, foundries, NFTs and delegations share. */

interface HeadingProps {
  readonly title: string
  readonly id: string
  readonly isDestroyed: boolean
}

/** The name of a chain, its id, and whether it is destroyed. */
export function ChainHeading({ title, id, isDestroyed }: HeadingProps) {
  return (
    <>
      <div class="heading">
        <h1>{title}</h1>
        {isDestroyed && (
          <span class="state state-spent">
            <span aria-hidden="true">−</span> {chainTexts.destroyed}
          </span>
        )}
      </div>
      <PlainId id={id} isSigned />
    </>
  )
}

interface ChainOutput {
  readonly outputId: string
  readonly amount: string
  readonly bookedAt: string
}

/** The newest output of a chain, and the transaction that destroyed the chain. */
export function ChainOutputFacts({
  of: { destroyedBy, lastOutput },
}: {
  readonly of: { readonly destroyedBy: string | null; readonly lastOutput: ChainOutput | null }
}) {
  return (
    <>
      <Fact name={chainTexts.destroyedBy}>
        {destroyedBy !== null && <Id of="transaction" id={destroyedBy} />}
      </Fact>
      <Fact name={chainTexts.output}>
        {lastOutput !== null && <Id of="output" id={lastOutput.outputId} />}
      </Fact>
      <Fact name={chainTexts.deposit}>
        {lastOutput !== null && <Amount value={lastOutput.amount} />}
      </Fact>
      <Fact name={chainTexts.changed}>
        {lastOutput !== null && <Time at={lastOutput.bookedAt} />}
      </Fact>
    </>
  )
}

/** The address of a chain and the outputs that it owns. */
export function ChainAddressFact({
  of,
}: {
  readonly of: {
    readonly bech32: string
    readonly balance: { readonly total: string; readonly outputCount: string }
  }
}) {
  return (
    <Fact name={chainTexts.address}>
      <Id of="address" id={of.bech32} />{' '}
      {of.balance.outputCount !== '0' && (
        <span class="muted">
          {chainTexts.owns(of.balance.outputCount)}, <Amount value={of.balance.total} />
        </span>
      )}
    </Fact>
  )
}
