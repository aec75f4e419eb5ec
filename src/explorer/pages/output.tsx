import { document, type OutputPageData } from '../../generated/explorer/output.ts'
import { grouped } from '../format.ts'
import { byId, type ObjectViewProps, objectPage } from '../page.tsx'
import { Amount } from '../parts/amount.tsx'
import { ByteTree } from '../parts/byte-tree.tsx'
import { ChainId } from '../parts/chain-id.tsx'
import { Conditions } from '../parts/conditions.tsx'
import { expires } from '../parts/expires.ts'
import { Fact, Facts, Section } from '../parts/facts.tsx'
import { Id } from '../parts/id.tsx'
import { MilestoneLink } from '../parts/milestone-link.tsx'
import { ObjectHeading } from '../parts/object-heading.tsx'
import { Proof } from '../parts/proof.tsx'
import { FullTime } from '../parts/time.tsx'
import { IdFact } from '../parts/value-facts.tsx'
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
  return isSpent ? (
    <span class="state state-spent">
      <span aria-hidden="true">−</span> {words.spent}
    </span>
  ) : (
    <span class="state state-created">
      <span aria-hidden="true">+</span> {words.unspent}
    </span>
  )
}
