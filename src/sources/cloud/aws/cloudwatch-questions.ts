import type { CloudWatchClient, Metric, MetricDataQuery, MetricDataResult } from '@aws-sdk/client-cloudwatch';
import { allPages } from './aws-ask.ts';
import type { AwsSettings } from './aws-session.ts';

export interface CloudWatchQuestions {
  /** Metrics of this name that were sent within two weeks, whatever their namespace. */
  metrics(region: string, metricName: string, signal: AbortSignal): Promise<Metric[]>;
  metricData(
    region: string,
    queries: readonly MetricDataQuery[],
    from: Date,
    until: Date,
    signal: AbortSignal,
  ): Promise<MetricDataResult[]>;
  close(): void;
}

/** What CloudWatch is asked. The SDK is loaded only now. */
export async function cloudWatchQuestions(settings: AwsSettings): Promise<CloudWatchQuestions> {
  const { CloudWatchClient, GetMetricDataCommand, ListMetricsCommand } = await import('@aws-sdk/client-cloudwatch');
  const clients = new Map<string, CloudWatchClient>();
  const clientIn = (region: string): CloudWatchClient => {
    const client = clients.get(region) ?? new CloudWatchClient(settings(region));
    clients.set(region, client);
    return client;
  };
  return {
    metrics: async (region, metricName, signal) => {
      const pages = await allPages('cloudwatch:ListMetrics', region, signal, (abortSignal, token) =>
        clientIn(region).send(new ListMetricsCommand({ MetricName: metricName, ...token }), { abortSignal }),
      );
      return pages.flatMap(({ Metrics: metrics = [] }) => metrics);
    },
    metricData: async (region, queries, from, until, signal) => {
      const question = {
        MetricDataQueries: [...queries],
        StartTime: from,
        EndTime: until,
        ScanBy: 'TimestampAscending' as const,
      };
      const pages = await allPages('cloudwatch:GetMetricData', region, signal, (abortSignal, token) =>
        clientIn(region).send(new GetMetricDataCommand({ ...question, ...token }), { abortSignal }),
      );
      return pages.flatMap(({ MetricDataResults: results = [] }) => results);
    },
    close: () => {
      for (const client of clients.values()) client.destroy();
    },
  };
}
