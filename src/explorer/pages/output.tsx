import { document, type OutputPageData } from '../../generated/explorer/output.ts'
import { grouped } from '../format.ts'
import { byId, type ObjectViewProps, objectPage } from '../page.tsx'
import { ByteTree } from '../parts/bytes/byte-tree.tsx'
import { Fact, Facts, Section } from '../parts/facts.tsx'
import { ObjectHeading } from '../parts/object-heading.tsx'
import { Conditions } from '../parts/outputs/conditions.tsx'
import { expires } from '../parts/outputs/expires.ts'
import { Proof } from '../parts/outputs/proof.tsx'
import { Amount } from '../parts/values/amount.tsx'
import { ChainId } from '../parts/values/chain-id.tsx'
import { Id } from '../parts/values/id.tsx'
import { Mark } from '../parts/values/mark.tsx'
import { MilestoneLink } from '../parts/values/milestone-link.tsx'
import { FullTime } from '../parts/values/time.tsx'
import { IdFact } from '../parts/values/value-facts.tsx'
import { texts } from '../texts.ts'
import '../styles/details.css'

/** The page of an output: its current and later owners, and whether it was spent. */

const words = texts.output

export const page = objectPage(document, 'output', OutputPage, {
  ...byId(words),
  live: ({ output }) => {
    if (output?.isSpent) return 'NEVER'
    return output === null || expires(output) ? 'MILESTONES' : 'UPDATES'
  },
})

function OutputPage({ of: output, place }: ObjectViewProps<OutputPageData, 'output'>) {
  return (
    <>
      <ObjectHeading title={words.heading} id={output.outputId}>
        <SpentState isSpent={output.isSpent} />
      </ObjectHeading>
      <p class="balance-total">
        <Amount value={output.amount} />
      </p>
      <Section title={words.conditions}>
        <Conditions of={output} />
      </Section>
      <Facts>
        <IdFact name={words.owner} of="address" id={output.owner.bech32} />
        <Fact name={words.kindOf}>{texts.kind[output.kind] ?? output.kind}</Fact>
        <Fact name={words.mana}>{output.mana !== null && grouped(output.mana)}</Fact>
        <Fact name={words.created}>
          <Id of="transaction" id={output.transactionId} /> <FullTime at={output.bookedAt} />
        </Fact>
        <Fact name={words.milestone}>
          <MilestoneLink index={output.bookedSlot} />
        </Fact>
        <Fact name={words.spentBy}>
          {output.spentBy !== null && output.spentAt !== null && (
            <>
              <Id of="transaction" id={output.spentBy} /> <FullTime at={output.spentAt} />
            </>
          )}
        </Fact>
        <Fact name={words.chain}>{output.chain !== null && <ChainId of={output.chain} />}</Fact>
      </Facts>
      <Proof id={place.parameters.id ?? ''} />
      <ByteTree fields={output.fields} bytes={output.bytes} />
    </>
  )
}

function SpentState({ isSpent }: { readonly isSpent: boolean }) {
  return isSpent ? <Mark as="spent">{words.spent}</Mark> : <Mark as="created">{words.unspent}</Mark>
}
