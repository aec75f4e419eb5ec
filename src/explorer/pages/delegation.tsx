import { type DelegationPageData, document } from '../../generated/explorer/delegation.ts'
import { grouped } from '../format.ts'
import { byId, type ObjectViewProps, objectPage } from '../page.tsx'
import { ChainHeading, ChainOutputFacts } from '../parts/chains/chain.tsx'
import { History } from '../parts/chains/history.tsx'
import { Fact, Facts } from '../parts/facts.tsx'
import { Amount } from '../parts/values/amount.tsx'
import { Id } from '../parts/values/id.tsx'
import { Epochs } from '../parts/values/moments.tsx'
import { IdFact } from '../parts/values/value-facts.tsx'
import { chainTexts } from '../texts-chains.ts'

/** The page of a delegation: its amount, validator, duration and reward. */

const words = chainTexts.delegation

export const page = objectPage(document, 'delegation', DelegationPage, {
  ...byId(words),
  // The reward grows with every epoch.
  live: ({ delegation }) => (delegation?.isDestroyed ? 'NEVER' : 'MILESTONES'),
})

function DelegationPage({
  of: delegation,
  place,
}: ObjectViewProps<DelegationPageData, 'delegation'>) {
  const { reward } = delegation
  return (
    <>
      <ChainHeading
        title={words.heading}
        id={delegation.delegationId}
        isDestroyed={delegation.isDestroyed}
      />
      <p class="balance-total">
        <Amount value={delegation.delegatedAmount} />{' '}
        <span class="muted">
          <Epochs from={delegation.startEpoch} to={delegation.endEpoch} />
        </span>
      </p>
      <Facts>
        <IdFact name={chainTexts.owner} of="address" id={delegation.owner.bech32} />
        <Fact name={words.validator}>
          <Id of="account" id={delegation.validatorId} />{' '}
          {delegation.validatorAccount === null && <span class="muted">{words.noAccount}</span>}
        </Fact>
        <Fact name={words.reward}>
          {reward !== null && (
            <>
              <span class="count">{grouped(reward.mana)}</span>{' '}
              <span class="unit">{chainTexts.mana}</span>{' '}
              <span class="muted">
                <Epochs from={reward.startEpoch} to={reward.endEpoch} />
              </span>
            </>
          )}
          {reward === null && !delegation.isDestroyed && (
            <span class="muted">{words.noReward}</span>
          )}
        </Fact>
        <ChainOutputFacts of={delegation} />
      </Facts>
      <History of={delegation.history} place={place} />
    </>
  )
}
