include $(sort $(wildcard $(BR2_EXTERNAL_KISEKI_PATH)/package/*/*.mk))
