import type { ComponentChildren } from 'preact'
import { grouped } from '../../format.ts'
import { chainTexts } from '../../texts-chains.ts'
import { Fact } from '../facts.tsx'
import { ObjectHeading } from '../object-heading.tsx'
import { Amount } from '../values/amount.tsx'
import { Id } from '../values/id.tsx'
import { Mark } from '../values/mark.tsx'
import { AmountFact, IdFact, TimeFact } from '../values/value-facts.tsx'

/** Components that the pages of accounts, anchors, foundries, NFTs and delegations share. */

interface HeadingProps {
  readonly title: ComponentChildren
  readonly id: string
  readonly isDestroyed: boolean
}

/** The name of a chain, its id, and whether it is destroyed. */
export function ChainHeading({ title, id, isDestroyed }: HeadingProps) {
  return (
    <ObjectHeading title={title} id={id} isSigned>
      {isDestroyed && <Mark as="spent">{chainTexts.destroyed}</Mark>}
    </ObjectHeading>
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
      <IdFact name={chainTexts.destroyedBy} of="transaction" id={destroyedBy} />
      <IdFact name={chainTexts.output} of="output" id={lastOutput?.outputId} />
      <AmountFact name={chainTexts.deposit} value={lastOutput?.amount} />
      <TimeFact name={chainTexts.changed} at={lastOutput?.bookedAt} />
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
          {chainTexts.owns(grouped(of.balance.outputCount))}, <Amount value={of.balance.total} />
        </span>
      )}
    </Fact>
  )
}
