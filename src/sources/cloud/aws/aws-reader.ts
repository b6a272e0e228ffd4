import type { AwsSessionOptions } from './aws-session.ts';
import { signIn } from './aws-session.ts';
import { cloudWatchQuestions } from './cloudwatch-questions.ts';
import type { CloudWatchQuestions } from './cloudwatch-questions.ts';
import { ec2Questions } from './ec2-questions.ts';
import type { Ec2Questions } from './ec2-questions.ts';

/** The five questions AWS is asked; docs/sources/aws-policy.json allows them and no more. */
export type AwsReader = Ec2Questions & CloudWatchQuestions;

/** Opens AWS for reading, signed in. */
export async function openAws(options: AwsSessionOptions): Promise<AwsReader> {
  const settings = await signIn(options);
  const ec2 = await ec2Questions(settings);
  const cloudWatch = await cloudWatchQuestions(settings);
  return {
    ...ec2,
    ...cloudWatch,
    close: () => {
      ec2.close();
      cloudWatch.close();
    },
  };
}
